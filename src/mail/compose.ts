import type { MailAddress } from './addresses.ts';
import { plainText } from './plain-text.ts';

export interface MailMessage {
  /** A string is taken as exactly one address. */
  readonly to: string | readonly MailAddress[];
  readonly cc?: readonly MailAddress[];
  /** These receive the message but are not named in it. Only a copy kept in the outbox names them. */
  readonly bcc?: readonly MailAddress[];
  readonly subject: string;
  readonly html: string;
  /** Plain text version; derived from `html` if omitted. */
  readonly text?: string;
  /** An address, with or without a name. Default: the sender of the service. */
  readonly from?: string;
  /** `<…@…>`, the same for each attempt to send the message. Default: a new one. */
  readonly messageId?: string;
  /** Time of writing in milliseconds since 1970. Default: now. */
  readonly date?: number;
  /** Recipients of this attempt, out of all that the message names. Default: all. */
  readonly only?: readonly string[];
}

/** A message as it goes over the wire. */
export interface ComposedMail {
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  readonly raw: Buffer;
}

const controls = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Makes a text safe for a header: control characters and line breaks become spaces. */
export function headerText(text: string): string {
  return text.replace(controls, ' ').trim();
}

/**
 * Composes a message with plain text and HTML. Nothing is fetched from anywhere, and no text can add a header or a recipient.
 * @param from sender of messages that name none
 * @param use `keep` includes Bcc recipients, so that the copy can be sent by other means
 */
export async function compose(from: string, message: MailMessage, use: 'send' | 'keep'): Promise<ComposedMail> {
  const { to, cc = [], bcc = [], subject, html, messageId, date, only } = message;
  const text = message.text ?? (await plainText(html));
  // Loaded lazily: loading it takes longer than many a start of the service.
  const { createTransport } = await import('nodemailer');
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const sender = message.from ?? from;
  // As objects, each is one address, whatever it contains.
  const first = typeof to === 'string' ? [{ name: '', address: to }] : to.map(inHeader);
  const composed = await composer.sendMail({
    from: sender,
    to: first,
    cc: cc.map(inHeader),
    ...(use === 'keep' && { bcc: bcc.map(inHeader) }),
    envelope: { from: sender, to: [...first, ...cc, ...bcc] },
    subject: headerText(subject),
    text,
    html,
    ...(messageId !== undefined && { messageId }),
    ...(date !== undefined && { date: new Date(date) }),
    // RFC 3834: asks recipients' systems to send no automatic replies.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { envelope } = composed;
  return { envelope: { from: envelope.from || '', to: only ?? envelope.to }, raw: composed.message as Buffer };
}

function inHeader({ name, address }: MailAddress): MailAddress {
  return { name: headerText(name), address };
}
