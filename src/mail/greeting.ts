import type { NodemailerError } from './nodemailer.ts';

/**
 * Connects to a mail server, reads its greeting and leaves, without a login and without a message.
 * @param url contains the credentials, which are not sent and not part of errors
 * @throws Error of one line
 */
export async function greetMailServer(url: string, timeoutMs: number): Promise<void> {
  const { SMTPConnection } = await import('./nodemailer.ts');
  const { hostname, port, protocol } = new URL(url);
  const connection = new SMTPConnection({
    host: hostname.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port: Number(port) }),
    secure: protocol === 'smtps:',
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
  });
  try {
    await new Promise<void>((resolve, reject) => {
      connection.once('error', (error: NodemailerError) => reject(error));
      connection.connect(() => resolve());
    });
    connection.quit();
  } finally {
    connection.on('error', () => {});
    connection.close();
  }
}
