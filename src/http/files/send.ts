import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import parseRange from 'range-parser';
import { catalogue } from '../../errors/catalogue.ts';
import { ServiceError } from '../../errors/fail.ts';
import { type ByteRange, fileNameOf, type OpenFile, type PresentFile, serving } from '../../files/index.ts';
import { faultPlace } from '../../observe/index.ts';
import { varyBy } from '../endpoint/answer.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { mayBeCompressed } from '../plugins/compression.ts';
import { isCompressible, sendCompressible, weakTag } from './compressible.ts';

/** The kind of address by which a file is read. */
export type FileAddress = 'public' | 'upload' | 'private';

/** Public files are cached for a day. Access to the others may be revoked, so caches must revalidate. Reference: files.md#serving. */
const cacheControl: Readonly<Record<FileAddress, string>> = {
  public: 'public, max-age=86400',
  upload: 'private, no-cache',
  private: 'private, no-cache',
};

/** Prevents browsers from guessing another content type. */
const noSniff = { 'x-content-type-options': 'nosniff' };

/** Characters that the ASCII fallback of the file name replaces. */
const nonAscii = /[^\x20-\x7e]+/g;

/** Bidirectional control characters, which can disguise the extension of a name, and path separators. */
const misleading = /[\u202a-\u202e\u2066-\u2069/\\]/g;

/**
 * Answers with a file, a part of it, or 304.
 * @returns when the answer is sent or the client has disconnected: whether there was an answer; false if the bytes are missing
 * @throws errors before the answer has begun
 */
export async function sendFile(
  { conditions }: Pick<HttpServices, 'conditions'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { file, read }: OpenFile,
  way: FileAddress,
): Promise<boolean> {
  const { headers, method } = request;
  const isVaried = isCompressible(file);
  if (isVaried) varyBy(reply, 'accept-encoding');
  const isPlain = isVaried && headers['accept-encoding'] !== undefined;
  const etag = `"${file.id}"`;
  const of: Validators = { etag: isPlain ? weakTag(etag) : etag, lastModified: new Date(file.createdAt).toUTCString() };
  const about = { etag: of.etag, 'last-modified': of.lastModified, 'cache-control': cacheControl[way], ...noSniff };
  const isRead = method !== 'POST';
  if (isRead && isCached(headers, of)) {
    reply.code(304).headers(about).send();
    return true;
  }
  const range = method === 'GET' ? requestedRange(headers, file.size, of) : null;
  if (range === 'none') {
    reply
      .code(416)
      .headers({ 'content-range': `bytes */${file.size}`, 'cache-control': 'no-store', ...noSniff })
      .send();
    return true;
  }
  const stream = method === 'HEAD' ? undefined : await read(range ?? undefined);
  if (stream === null) return false;
  const size = range ? range.end - range.start + 1 : file.size;
  const status = range ? 206 : 200;
  const said = { ...about, ...contentHeaders(file, way), 'accept-ranges': 'bytes', 'content-length': String(size) };
  const all = range ? { ...said, 'content-range': `bytes ${range.start}-${range.end}/${file.size}` } : said;
  if (!stream) {
    const { 'content-length': _, ...withoutLength } = all;
    reply
      .code(status)
      .headers(isVaried && mayBeCompressed(request) ? withoutLength : all)
      .send();
    return true;
  }
  if (!range && isPlain) {
    reply.code(200).headers(said);
    await sendCompressible(reply, stream, size);
    return true;
  }
  try {
    await pipeExactly(stream, reply.raw, size, () => {
      reply.code(status).headers(all).hijack();
      reply.raw.writeHead(status, reply.getHeaders() as OutgoingHttpHeaders);
    });
  } catch (error) {
    // The answer has not begun, so the caller can send an error, and logs a fault.
    if (!reply.raw.headersSent) throw error;
    // An outage of the file store is already reported.
    if (!(error instanceof ServiceError)) conditions.met('a file could not be read', faultPlace(error), error);
  }
  return true;
}

/** Whether the client's cached copy is current. `cache-control` of the request is meant for caches in between and is ignored. */
function isCached(
  { 'if-none-match': tags, 'if-modified-since': since }: IncomingHttpHeaders,
  { etag, lastModified }: Validators,
): boolean {
  return fresh({ 'if-none-match': tags, 'if-modified-since': since }, { etag, 'last-modified': lastModified });
}

/** Returns the headers that describe the content. Reference: files.md#serving. */
function contentHeaders({ name, contentType }: PresentFile, way: FileAddress): Record<string, string> {
  const served = serving(contentType);
  const fileName = fileNameOf(name).toWellFormed().replace(misleading, '_');
  return {
    'content-type': served.contentType,
    'content-disposition': contentDisposition(fileName, { type: served.disposition, fallback: fileName.replace(nonAscii, '_') }),
    ...(served.contentSecurityPolicy !== undefined && { 'content-security-policy': served.contentSecurityPolicy }),
    // Lets pages with cross-origin isolation embed public files.
    ...(way !== 'private' && { 'cross-origin-resource-policy': 'cross-origin' }),
  };
}

/** Sends the 404 of a file, which is text and not cached: the file may appear soon. Reference: errors.md#answers-without-a-code. */
export function sendMissing(reply: FastifyReply): void {
  reply.code(catalogue.fileNotFound.status).headers({
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    ...noSniff,
  });
  reply.send(catalogue.fileNotFound.text());
}

/** Validators of one version of a file. */
export interface Validators {
  /** Weak (`W/…`) if the answer may be compressed. */
  readonly etag: string;
  readonly lastModified: string;
}

/**
 * Returns the byte range that a request wants (RFC 9110, 14.2). A request for several ranges gets the whole file. Reference: files.md#serving.
 * @returns `null` for the whole file; `'none'` if no part of the range exists
 */
export function requestedRange(
  { range, ...headers }: IncomingHttpHeaders,
  size: number,
  of: Validators,
): ByteRange | null | 'none' {
  if (range === undefined || !isSameVersion(headers['if-range'], of)) return null;
  const found = parseRange(size, wholeSuffix(range, size));
  if (found === -1) return range.startsWith('bytes=') ? 'none' : null;
  if (found === -2 || found.type !== 'bytes' || found.length !== 1) return null;
  return found[0] ?? null;
}

/** Expands a suffix range that is longer than the file to the whole file, which the `range-parser` package does not do. */
function wholeSuffix(range: string, size: number): string {
  const length = /^bytes=\s*-(\d+)\s*$/.exec(range)?.[1];
  return length !== undefined && Number(length) > size ? 'bytes=0-' : range;
}

/** RFC 9110, 13.1.5: `If-Range` holds a strong tag or the exact date. */
function isSameVersion(ifRange: string | string[] | undefined, { etag, lastModified }: Validators): boolean {
  if (ifRange === undefined || ifRange === lastModified) return true;
  return ifRange === etag && !etag.startsWith('W/');
}

/**
 * Pipes a stream as the body of an answer with a known length. If the number of bytes differs, the connection is cut, so that the client does not
 * take a following answer on the connection for a part of this one.
 * @param size number of bytes
 * @param begin writes the head; called when the first bytes are available
 * @returns when all is sent or the client has disconnected
 * @throws the error of the stream, or if its length is wrong; the answer may have begun
 */
export async function pipeExactly(stream: Readable, response: ServerResponse, size: number, begin: () => void): Promise<void> {
  const poured = Promise.withResolvers<void>();
  let left = size;
  let isOver = false;
  const end = (error?: Error) => {
    if (isOver) return;
    isOver = true;
    stream.destroy();
    if (error === undefined) poured.resolve();
    else {
      if (response.headersSent) response.destroy();
      poured.reject(error);
    }
  };
  const wrong = () =>
    end(new Error(left > 0 ? 'the file has fewer bytes than it should' : 'the file has more bytes than it should'));
  response.once('close', () => end());
  response.on('drain', () => stream.resume());
  // Never removed: the stream may still fail after it was abandoned.
  stream.on('error', end);
  stream.once('close', () => {
    if (!response.writableEnded) wrong();
  });
  stream.once('end', () => {
    if (isOver) return;
    if (left > 0) return wrong();
    if (!response.headersSent) begin();
    response.end();
  });
  stream.on('data', (chunk: Buffer) => {
    if (isOver) return;
    const isTooMuch = chunk.length > left;
    left -= chunk.length;
    if (isTooMuch) return wrong();
    if (!response.headersSent) begin();
    if (!response.write(chunk)) stream.pause();
  });
  if (response.closed || response.destroyed) end();
  return poured.promise;
}
