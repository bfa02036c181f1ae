/** Reads what the service mails: from an SMTP server of the test's own, or from the box in the data directory. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import type { Service } from '../support/service.ts';

export interface Mail {
  to: string[];
  /** As it came, headers and encoded parts. */
  source: string;
  /** The decoded parts by content type, such as `text/plain`. */
  parts: Map<string, string>;
}

export interface Sink {
  url: string;
  mails: Mail[];
  close(): Promise<void>;
}

/** An SMTP server on a free port that takes every mail. */
export async function startSink(): Promise<Sink> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const source = Buffer.concat(chunks).toString();
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), source, parts: partsOf(source) });
        done();
      });
    },
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, mails, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** The header lines of a message or part, unfolded, and its body. */
function split(source: string): { headers: Map<string, string>; body: string } {
  const end = /\r?\n\r?\n/.exec(source);
  assert.ok(end, 'headers end in an empty line');
  const lines = source
    .slice(0, end.index)
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { headers, body: source.slice(end.index + end[0].length) };
}

function partsOf(source: string): Map<string, string> {
  const { headers, body } = split(source);
  const type = headers.get('content-type') ?? 'text/plain';
  const boundary = /boundary="?([^";]+)"?/i.exec(type)?.[1];
  if (!boundary) return new Map([[type.split(';')[0] as string, decoded(body, headers.get('content-transfer-encoding'))]]);
  const parts = body.split(`--${boundary}`).slice(1, -1);
  return new Map(parts.flatMap((part) => [...partsOf(part.replace(/^\r?\n/, ''))]));
}

function decoded(body: string, encoding = '7bit'): string {
  if (encoding.toLowerCase() === 'base64') return Buffer.from(body, 'base64').toString();
  if (encoding.toLowerCase() !== 'quoted-printable') return body;
  const bytes = body
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

/** The mails kept in the box, oldest first. */
export async function boxOf(dataDir: string): Promise<(Mail & { path: string })[]> {
  const folder = join(dataDir, 'mail');
  const names = await readdir(folder).catch(() => []);
  return Promise.all(
    names
      .filter((name) => name.endsWith('.eml'))
      .sort()
      .map(async (name) => {
        const source = await readFile(join(folder, name), 'utf8');
        const to = /^To: (.*)$/im.exec(source)?.[1] ?? '';
        return { path: join(folder, name), to: [to.trim()], source, parts: partsOf(source) };
      }),
  );
}

/** Waits until `look` finds something; fails after ten seconds. */
export async function eventually<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await wait(20)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error('it did not come within ten seconds');
}

/** The link that a mail brings: the same in its plain text as in its HTML. */
export function linkIn(mail: Mail, service: Pick<Service, 'appId'>): URL {
  const find = (text = '') =>
    new RegExp(`https?://[^\\s"<>]+/password-reset/${service.appId}\\?token=[A-Za-z0-9_-]+`).exec(text)?.[0];
  const link = find(mail.parts.get('text/plain'));
  assert.ok(link, mail.source);
  assert.equal(find(mail.parts.get('text/html')), link);
  return new URL(link);
}
