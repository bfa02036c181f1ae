/** Helpers for the suites about files: uploads, reads byte for byte, and the contents of File fields. Reference: files.md#upload. */
import assert from 'node:assert/strict';
import { type IncomingHttpHeaders, request } from 'node:http';
import { type Json, unique } from './records.ts';
import type { As, Service } from './service.ts';

/** The addressed system: of a service, or another system of it. */
export type At = Pick<Service, 'url' | 'appId' | 'masterKey' | 'apiKey'>;

/** The answer to an upload. */
export interface Uploaded {
  name: string;
  url: string;
}

export interface Got {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
  body: Json;
}

export interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Sends the body without a Content-Length. */
  chunked?: boolean;
}

/** Sends one request, with the path byte for byte as given. Follows no redirects. A response that arrives before the whole body was read counts. */
export function ask(url: string, { method = 'GET', headers = {}, body, chunked }: Asked = {}): Promise<Got> {
  const [, hostname, port, path = '/'] = /^http:\/\/([^/:]+):(\d+)(\/.*)?$/s.exec(url) ?? [];
  assert.ok(hostname, `an address: ${url}`);
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(body as Uint8Array);
  const length: Record<string, string> =
    body === undefined ? {} : chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(bytes.length) };
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers: { ...headers, ...length }, agent: false }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.once('error', reject);
      answer.once('end', () => {
        const whole = Buffer.concat(parts);
        const text = whole.toString();
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: whole, text, body: parsed(text) });
      });
    });
    sent.once('error', reject);
    sent.end(bytes);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface By {
  as?: As;
  /** Sends this session token, and no key. */
  session?: string;
}

/** Returns the headers of a caller. */
export function credentials(at: At, { as = 'anonymous', session }: By = {}): Record<string, string> {
  const sent: Record<string, string> = { 'X-Platform-Application-Id': at.appId };
  if (session !== undefined) sent['X-Platform-Session-Token'] = session;
  else if (as === 'master') sent['X-Platform-Master-Key'] = at.masterKey;
  else if (as === 'apiKey') sent['X-Platform-API-Key'] = at.apiKey;
  return sent;
}

export interface UploadOptions extends By {
  /** The Content-Type. */
  type?: string;
  headers?: Record<string, string>;
  chunked?: boolean;
}

/** Returns the address to upload a file of this name to, or to delete a file by its stored name. */
export const filePath = (at: At, name: string): string => `${at.url}/platform/files/${encodeURIComponent(name)}`;

/** Reference: files.md#upload. */
export const upload = (at: At, fileName: string, bytes: string | Uint8Array, options: UploadOptions = {}): Promise<Got> =>
  ask(filePath(at, fileName), {
    method: 'POST',
    headers: { ...credentials(at, options), 'Content-Type': options.type ?? 'application/octet-stream', ...options.headers },
    body: bytes,
    ...(options.chunked && { chunked: true }),
  });

/** Uploads a file, which must succeed. */
export async function uploadFile(
  at: At,
  fileName = 'file.txt',
  bytes: string | Uint8Array = unique('bytes '),
  options: UploadOptions = {},
): Promise<Uploaded> {
  const { status, body, text } = await upload(at, fileName, bytes, options);
  assert.equal(status, 201, `${JSON.stringify(fileName)}: ${text.slice(0, 300)}`);
  assert.deepEqual(Object.keys(body).sort(), ['name', 'url']);
  return body;
}

/** Reference: files.md#delete-a-file. */
export const deleteFile = (at: At, name: string, by: By = { as: 'master' }): Promise<Got> =>
  ask(filePath(at, name), { method: 'DELETE', headers: credentials(at, by) });

/** Returns the value that a client sends to attach a file. Reference: files.md#attach-a-file. */
export const fileObject = ({ name, url }: Uploaded) => ({ __type: 'File', name, url });

export const publicUrl = ({ url, appId }: At, name: string): string => `${url}/static/${appId}/${name}`;
export const uploadUrl = ({ url, appId }: At, name: string): string => `${url}/platform/files/${appId}/${name}`;

/** The record and field that hold a private file. */
export interface Place {
  table: string;
  id: string;
  field: string;
}

export const recordUrl = (at: At, name: string, { table, id, field }: Place): string =>
  `${uploadUrl(at, name)}/${table}/${encodeURIComponent(id)}/${field}`;

/** Returns the value of a File field as answered. */
export const shownFile = (at: At, name: string) => ({ __type: 'File', name, url: publicUrl(at, name), public: true });
/** Returns the value of a PrivateFile field as answered. */
export const shownPrivate = (at: At, name: string, place: Place) => ({
  __type: 'File',
  name,
  url: recordUrl(at, name, place),
  private: true,
});

/** Asserts that an address serves these bytes. */
export async function assertServed(url: string, bytes: string | Uint8Array, headers: Record<string, string> = {}): Promise<Got> {
  const got = await ask(url, { headers });
  assert.equal(got.status, 200, `${url}: ${got.text.slice(0, 300)}`);
  assert.ok(got.bytes.equals(Buffer.from(bytes as Uint8Array)), `${url} serves other bytes: ${got.text.slice(0, 100)}`);
  return got;
}

/** Asserts 404 `File not found`. Reference: errors.md#answers-without-a-code. */
export async function assertGone(url: string, headers: Record<string, string> = {}): Promise<void> {
  const { status, text } = await ask(url, { headers });
  assert.deepEqual([status, text], [404, 'File not found'], url);
}

/** Asserts the error for a File object of a file that was never uploaded: code 1 without a message. */
export function assertUnknownFile({ status, body }: { status: number; body: Json }, what = ''): void {
  assert.deepEqual([status, body], [400, { code: 1 }], what);
}
