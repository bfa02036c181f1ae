import { isIP } from 'node:net';
import { type Logger, Observations } from '../observe/index.ts';
import { type Mailer, ReliableMailer } from './mailer.ts';
import { Outbox } from './outbox.ts';
import { smtpTransport } from './smtp.ts';

/** Settings of outgoing mail (settings.md#smtp_url). */
export interface MailOptions {
  /** A secret. If `undefined`, mail is kept in the outbox instead of sent. */
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string | undefined;
  readonly baseUrl: string | undefined;
  /** The outbox directory, created with the first message. */
  readonly directory: string;
}

/**
 * Creates the mailer. Messages that an earlier process left half sent are kept in the outbox.
 * @throws errors of the operating system if the outbox exists and cannot be read
 */
export async function createMailer(
  { smtpUrl, mailFrom, baseUrl, directory }: MailOptions,
  log: Logger,
  observations = new Observations(),
): Promise<Mailer> {
  const box = new Outbox(directory);
  const left = await box.recover();
  if (left > 0) log.warn({ messages: left }, 'messages that an earlier process did not finish sending are kept in the mail box');
  return new ReliableMailer({
    from: mailFrom ?? senderFor(baseUrl),
    transport: smtpUrl ? smtpTransport(smtpUrl) : null,
    box,
    log,
    observations,
  });
}

/** Returns the sender used if MAIL_FROM is not set: `no-reply` at the host of BASE_URL, or at `localhost` if that is not a host name. */
export function senderFor(baseUrl: string | undefined): string {
  const host = baseUrl === undefined ? '' : (URL.parse(baseUrl)?.hostname ?? '');
  const isName = host !== '' && isIP(host) === 0 && !host.startsWith('[');
  return `no-reply@${isName ? host : 'localhost'}`;
}
