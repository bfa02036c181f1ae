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
import { isCompressible, sendCompressible, weakly } from './compressible.ts';

/** By which address a file is read. */
export type Way = 'public' | 'upload' | 'private';

/** SPEC "Files" rule 6: public files are cached for one day. The others may be closed to who could read them before. */
const cacheControl: Readonly<Record<Way, string>> = {
  public: 'public, max-age=86400',
  upload: 'private, no-cache',
  private: 'private, no-cache',
};

/** No browser takes a file for anything but what it is served as. */
const unsniffed = { 'x-content-type-options': 'nosniff' };

/** What clients that know no other alphabet than ASCII are told instead. */
const foreign = /[^\x20-\x7e]+/g;

/** Characters that turn the text after them around, by which a name may show another extension than it has; and what parts paths. */
const misleading = /[\u202a-\u202e\u2066-\u2069/\\]/g;

/**
 * Answers with a file, a part of it, or that the client has it already.
 * @returns when it is sent or the client has left: whether there was an answer; false where the bytes are gone
 * @throws what goes wrong before there is an answer
 */
export async function sendFile(
  { conditions }: Pick<HttpServices, 'conditions'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { file, read }: OpenFile,
  way: Way,
): Promise<boolean> {
  const { headers, method } = request;
  const isVaried = isCompressible(file);
  if (isVaried) varyBy(reply, 'accept-encoding');
  const isPlain = isVaried && headers['accept-encoding'] !== undefined;
  const etag = `"${file.id}"`;
  const of: Validators = { etag: isPlain ? weakly(etag) : etag, lastModified: new Date(file.createdAt).toUTCString() };
  const about = { etag: of.etag, 'last-modified': of.lastModified, 'cache-control': cacheControl[way], ...unsniffed };
  const isRead = method !== 'POST';
  if (isRead && hasIt(headers, of)) {
    reply.code(304).headers(about).send();
    return true;
  }
  const range = method === 'GET' ? wantedRange(headers, file.size, of) : null;
  if (range === 'none') {
    reply
      .code(416)
      .headers({ 'content-range': `bytes */${file.size}`, 'cache-control': 'no-store', ...unsniffed })
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
    await pour(stream, reply.raw, size, () => {
      reply.code(status).headers(all).hijack();
      reply.raw.writeHead(status, reply.getHeaders() as OutgoingHttpHeaders);
    });
  } catch (error) {
    // The client can still be told; who answers it tells the log of faults of ours.
    if (!reply.raw.headersSent) throw error;
    // A store that is away was told of already.
    if (!(error instanceof ServiceError)) conditions.met('a file could not be read', faultPlace(error), error);
  }
  return true;
}

/** Whether the client has the file as it is. What it asks of caches on the way is not for us. */
function hasIt(
  { 'if-none-match': tags, 'if-modified-since': since }: IncomingHttpHeaders,
  { etag, lastModified }: Validators,
): boolean {
  return fresh({ 'if-none-match': tags, 'if-modified-since': since }, { etag, 'last-modified': lastModified });
}

/** What is said of the bytes themselves (docs/decisions.md "Files"). */
function contentHeaders({ name, contentType }: PresentFile, way: Way): Record<string, string> {
  const served = serving(contentType);
  const fileName = fileNameOf(name).toWellFormed().replace(misleading, '_');
  return {
    'content-type': served.contentType,
    'content-disposition': contentDisposition(fileName, { type: served.disposition, fallback: fileName.replace(foreign, '_') }),
    ...(served.contentSecurityPolicy !== undefined && { 'content-security-policy': served.contentSecurityPolicy }),
    // Pages that shut others out may show what anybody may read.
    ...(way !== 'private' && { 'cross-origin-resource-policy': 'cross-origin' }),
  };
}

/** SPEC "Errors": 404 of a file is text. It may come soon. */
export function sendMissing(reply: FastifyReply): void {
  reply.code(catalogue.fileNotFound.status).headers({
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    ...unsniffed,
  });
  reply.send(catalogue.fileNotFound.text());
}

/** What tells one version of a file from another. */
export interface Validators {
  /** Weak (`W/…`) where the answer may be compressed. */
  readonly etag: string;
  readonly lastModified: string;
}

/**
 * Which bytes of a file a request wants (RFC 9110, 14.2). Several ranges are answered with the whole (docs/decisions.md "Files").
 * @returns `null` for all of them; `'none'` where the file has none of those that are wanted
 */
export function wantedRange({ range, ...headers }: IncomingHttpHeaders, size: number, of: Validators): ByteRange | null | 'none' {
  if (range === undefined || !isSameVersion(headers['if-range'], of)) return null;
  const found = parseRange(size, wholeSuffix(range, size));
  if (found === -1) return range.startsWith('bytes=') ? 'none' : null;
  if (found === -2 || found.type !== 'bytes' || found.length !== 1) return null;
  return found[0] ?? null;
}

/** The last bytes of a file that has fewer are all of them, which the package does not know. */
function wholeSuffix(range: string, size: number): string {
  const length = /^bytes=\s*-(\d+)\s*$/.exec(range)?.[1];
  return length !== undefined && Number(length) > size ? 'bytes=0-' : range;
}

/** RFC 9110, 13.1.5: `If-Range` holds a strong tag, or the very date. */
function isSameVersion(ifRange: string | string[] | undefined, { etag, lastModified }: Validators): boolean {
  if (ifRange === undefined || ifRange === lastModified) return true;
  return ifRange === etag && !etag.startsWith('W/');
}

/**
 * Writes the bytes of a stream as the body of an answer whose length was announced: as many bytes go out, or the connection is cut, so that
 * the answer after it on the connection is not taken for a part of this one.
 * @param size how many bytes
 * @param begin writes the head; called when there are bytes to follow
 * @returns when all is sent, or the client has left
 * @throws what the stream fails with, and where it has fewer or more bytes; the answer has begun then or not
 */
export async function pour(stream: Readable, response: ServerResponse, size: number, begin: () => void): Promise<void> {
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
  // It stays: a stream that is left may fail afterwards.
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
