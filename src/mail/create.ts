import { isIP } from 'node:net';
import type { Logger } from '../observe/index.ts';
import { type Mailer, ReliableMailer } from './mailer.ts';
import { Outbox } from './outbox.ts';
import { smtpTransport } from './smtp.ts';

/** What the settings say of outgoing mail (CONTRACT "Running"). */
export interface MailOptions {
  /** A secret. `undefined`: mail is kept, not sent. */
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string | undefined;
  readonly baseUrl: string | undefined;
  /** The box of messages that are kept. Made when there is a first one. */
  readonly directory: string;
}

/**
 * The way that mail takes out of the service. What an earlier process left half sent is kept in the box.
 * @throws errors of the operating system where the box is there and cannot be read
 */
export async function createMailer({ smtpUrl, mailFrom, baseUrl, directory }: MailOptions, log: Logger): Promise<Mailer> {
  const box = new Outbox(directory);
  const left = await box.recover();
  if (left > 0) log.warn({ messages: left }, 'messages that an earlier process did not finish sending are kept in the mail box');
  return new ReliableMailer({
    from: mailFrom ?? senderFor(baseUrl),
    transport: smtpUrl ? smtpTransport(smtpUrl) : null,
    box,
    log,
  });
}

/** The sender of mail where MAIL_FROM is not set: `no-reply` at the host of BASE_URL, or at `localhost` where that is no name. */
export function senderFor(baseUrl: string | undefined): string {
  const host = baseUrl === undefined ? '' : (URL.parse(baseUrl)?.hostname ?? '');
  const isName = host !== '' && isIP(host) === 0 && !host.startsWith('[');
  return `no-reply@${isName ? host : 'localhost'}`;
}
