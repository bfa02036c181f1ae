import type { ComposedMail } from './compose.ts';
import { CONCURRENCY, type MailTransport } from './mailer.ts';
import type { NodemailerError } from './nodemailer.ts';
import { mailFault } from './smtp-errors.ts';

/** Timeouts of the steps of an attempt, in milliseconds. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000, dnsTimeout: 10_000 };

/** Sends through an SMTP server. @param url contains the credentials, so it must not appear in errors or logs */
export function smtpTransport(url: string): MailTransport {
  let pool: ReturnType<typeof openPool> | undefined;
  return {
    async deliver({ envelope, raw }: ComposedMail, signal: AbortSignal) {
      pool ??= openPool(url);
      const sender = await pool;
      const sent = await sender.sendMail({ envelope: { from: envelope.from, to: [...envelope.to] }, raw, signal });
      return (sent.rejectedErrors ?? []).map((error: NodemailerError) => ({
        ...mailFault(error),
        address: error.recipient ?? '',
      }));
    },
    async close() {
      const opened = await pool?.catch(() => undefined);
      opened?.close({ force: true });
    },
  };
}

async function openPool(url: string) {
  const { createTransport } = await import('nodemailer');
  return createTransport({ url, pool: true, maxConnections: CONCURRENCY, ...timeouts });
}
