import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import { catalogue } from '../../errors/catalogue.ts';
import { ServiceError } from '../../errors/fail.ts';
import { fileNameOf, type OpenFile, type PresentFile, serving } from '../../files/index.ts';
import { faultPlace } from '../../observe/index.ts';
import { varyBy } from '../answer.ts';
import type { Edge } from '../edge.ts';
import { mayBeCompressed } from '../plugins/compression.ts';
import { isCompressible, sendCompressible, weakly } from './compressible.ts';
import { pour } from './pour.ts';
import { type Validators, wantedRange } from './range.ts';

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
  { conditions }: Pick<Edge, 'conditions'>,
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
