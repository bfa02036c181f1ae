/** A message to one recipient. */
export interface MailMessage {
  /** An address. */
  readonly to: string;
  readonly subject: string;
  /** The same in both forms. */
  readonly text: string;
  readonly html: string;
}

/** A message as it goes over the wire, the same at every attempt, so that a reader's program knows a second copy by its Message-ID. */
export interface ComposedMail {
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  readonly raw: Buffer;
}

/** Puts a message together: one recipient, plain text and HTML, nothing fetched from anywhere. */
export async function compose(from: string, { to, subject, text, html }: MailMessage): Promise<ComposedMail> {
  // Loaded when the first message is sent: it takes longer than many a start.
  const { createTransport } = await import('nodemailer');
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const { envelope, message } = await composer.sendMail({
    from,
    // As an object it is one address, whatever stands in it.
    to: { name: '', address: to },
    subject,
    text,
    html,
    // RFC 3834: no automatic answers, please.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return { envelope: { from: envelope.from || '', to: envelope.to }, raw: message as Buffer };
}
