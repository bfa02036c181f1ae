/** Mail as a test reads it: off the wire, or out of the box in the data directory. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime, { decodeWords } from 'postal-mime';

export interface ReadMail {
  /** As it came, headers and encoded parts. */
  raw: string;
  /** Decoded. */
  subject: string;
  html: string;
  text: string;
  /** Decoded values by the names in lower case, each the last of its name. */
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

/** The mails kept in the box, oldest first. `to` is the header. */
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
