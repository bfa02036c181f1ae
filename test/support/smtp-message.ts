/** Mail as a test reads it: from the connection, or from the mail box in the data directory. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime, { decodeWords } from 'postal-mime';

export interface ReadMail {
  /** The raw message: headers and encoded parts. */
  raw: string;
  /** Decoded. */
  subject: string;
  html: string;
  text: string;
  /** Decoded values by lower-case name; the last one wins if a name repeats. */
  headers: Map<string, string>;
}

export async function readMail(raw: Buffer): Promise<ReadMail> {
  const { subject = '', html = '', text = '', headers } = await PostalMime.parse(raw);
  return {
    raw: raw.toString(),
    subject,
    html,
    text,
    headers: new Map(headers.map(({ key, value }) => [key, decodeWords(value)])),
  };
}

/** Returns the mails in the mail box, oldest first. `to` is the header. */
export async function boxOf(dataDir: string): Promise<(ReadMail & { path: string; to: string[] })[]> {
  const folder = join(dataDir, 'mail');
  const names = await readdir(folder).catch(() => []);
  return Promise.all(
    names
      .filter((name) => name.endsWith('.eml'))
      .sort()
      .map(async (name) => {
        const mail = await readMail(await readFile(join(folder, name)));
        return { ...mail, path: join(folder, name), to: (mail.headers.get('to') ?? '').split(', ') };
      }),
  );
}
