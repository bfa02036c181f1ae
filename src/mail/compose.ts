import type { MailAddress } from './addresses.ts';
import { plainText } from './plain-text.ts';

/** A message. */
export interface MailMessage {
  /** A text is one address, whatever stands in it. */
  readonly to: string | readonly MailAddress[];
  readonly cc?: readonly MailAddress[];
  /** They get it, and no copy but one that is kept tells of them. */
  readonly bcc?: readonly MailAddress[];
  readonly subject: string;
  readonly html: string;
  /** The same; made from `html` where it is left out. */
  readonly text?: string;
  /** An address, with a name or without; the service's own where it is left out. */
  readonly from?: string;
  /** `<…@…>`: the same for each attempt to send it. A new one where it is left out. */
  readonly messageId?: string;
  /** When it was written, in milliseconds since 1970; now where it is left out. */
  readonly date?: number;
  /** The addresses that it is to go to now, of all that it names; all of them where it is left out. */
  readonly only?: readonly string[];
}

/** A message as it goes over the wire. */
export interface ComposedMail {
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  readonly raw: Buffer;
}

const controls = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** A text as a header has it: without line breaks and their like. */
export function headerText(text: string): string {
  return text.replace(controls, ' ').trim();
}

/**
 * Puts a message together: plain text and HTML, nothing fetched from anywhere. No text in it adds a header, nor a recipient.
 * @param from of messages that name none
 * @param use a copy that is kept names all recipients, so that it can be sent by other means
 */
export async function compose(from: string, message: MailMessage, use: 'send' | 'keep'): Promise<ComposedMail> {
  const { to, cc = [], bcc = [], subject, html, messageId, date, only } = message;
  const text = message.text ?? (await plainText(html));
  // Loaded when the first message is sent: it takes longer than many a start.
  const { createTransport } = await import('nodemailer');
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const sender = message.from ?? from;
  // As objects each is one address, whatever stands in it.
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
    // RFC 3834: no automatic answers, please.
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
