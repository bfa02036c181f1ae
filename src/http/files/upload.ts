import { createReadStream } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ReservationPool } from '../../admission/reservation-pool.ts';
import { fail, ServiceError } from '../../errors/fail.ts';
import { sortFileError } from '../../files/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { prefix } from '../../kernel/prefix.ts';
import { executeRequest } from '../../requests/index.ts';
import { setBodyTimeout } from '../connections/body-timeout.ts';
import { senderOf } from '../endpoint/body-reader.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { answerEndpoint } from '../endpoint/endpoint-handler.ts';
import { type Envelope, parseEnvelope } from '../endpoint/parse-request.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { removalEndpoint } from '../routes/files.ts';
import { beginsAsObject, bytesOf, CountedBytes, isLonger, peek } from './body.ts';
import { type LongBase64, readJsonBody } from './json-body.ts';
import { fileOf, HEAD_BYTES, isTooLarge, MAX_JSON_UPLOAD_BYTES, mayBeUpload, readJsonUpload, refersTo } from './json-upload.ts';
import { createUploadPool, ReservedBytes } from './reserved-bytes.ts';
import { Upload, type Uploader } from './upload-exchange.ts';

/** Time limit of a file's bytes: 32 MiB at 0.3 Mbit/s. */
export const UPLOAD_TIMEOUT_MS = 900_000;
/** Time limit while no system is named yet: 32 MiB in base64 at 1.2 Mbit/s, including waiting. */
export const UNNAMED_UPLOAD_TIMEOUT_MS = 300_000;
/** Dependencies of the upload routes. */
interface Uploads {
  readonly services: HttpServices;
  readonly pool: ReservationPool;
  readonly removal: Endpoint;
}

/** Takes a body that is a file, for a request whose path has the file's name as `fileName`. Never throws. */
export type TakeUpload = (request: FastifyRequest, reply: FastifyReply, uploader: Uploader) => Promise<void>;

/**
 * Registers uploads. The handler reads the body itself, whatever its content type. Reference: files.md#upload.
 * @returns the handler for uploads of other parts of the service
 */
export function registerUpload(server: FastifyInstance, services: HttpServices): TakeUpload {
  const uploads: Uploads = {
    services,
    pool: createUploadPool(),
    removal: removalEndpoint(services.files),
  };
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    scope.route({
      method: 'POST',
      url: `${prefix}/files/:fileName`,
      handler(request, reply) {
        answerUpload(uploads, request, reply);
      },
    });
    done();
  });
  return (request, reply, uploader) => answerUpload(uploads, request, reply, uploader);
}

/** Answers one upload. Never throws. */
async function answerUpload(uploads: Uploads, request: FastifyRequest, reply: FastifyReply, uploader?: Uploader): Promise<void> {
  const upload = new Upload(uploads.services, request, reply);
  await executeRequest(upload.callerRequest, {
    mayWrite: true,
    run: () => takeBody(uploads, upload, uploader),
    refuse: (error) => upload.refuse(error),
    log: () => upload.log(),
  });
}

/**
 * Takes the body of an upload: raw bytes if a header names the system, or JSON that contains both. Reference: files.md#upload, files.md#json-upload.
 */
async function takeBody(uploads: Uploads, upload: Upload, uploader?: Uploader): Promise<void> {
  const { request } = upload;
  const { raw, headers } = request;
  const isNamed = uploader !== undefined || Boolean(headers['x-platform-application-id']);
  setBodyTimeout(raw, isNamed ? UPLOAD_TIMEOUT_MS : UNNAMED_UPLOAD_TIMEOUT_MS);
  if (uploader) await upload.openFor(uploader);
  else if (isNamed) await upload.open(parseEnvelope(headers, undefined));
  if (upload.fileName === '') fail('notFound');
  const length = lengthOf(request);
  const bytes = bytesOf(raw);
  let reserved: ReservedBytes | undefined;
  const reserve = (all: AsyncIterator<Buffer>, maxBytes: number): ReservedBytes => {
    const sender = () => senderOf(uploads.services.systems, request);
    reserved = new ReservedBytes({ pool: uploads.pool, sender, response: upload.reply.raw, size: length || maxBytes }, all);
    return reserved;
  };
  const asRaw = (all: AsyncIterator<Buffer>) => takeRaw(upload, reserve(all, limits.fileBytes));
  const asJson = (all: AsyncIterator<Buffer>) => {
    if (length > MAX_JSON_UPLOAD_BYTES) fail('fileTooLarge');
    return takeJson(uploads, upload, reserve(all, MAX_JSON_UPLOAD_BYTES), isNamed);
  };
  try {
    if (uploader) return await asRaw(bytes);
    if (isNamed && isForm(headers['content-type'])) return await asRaw(await rejectForm(bytes));
    if (isNamed && !mayBeJson(headers['content-type'])) return await asRaw(bytes);
    const begun = await peek(bytes, 1);
    const isObject = beginsAsObject(begun.head);
    if (!isNamed) {
      if (!isObject) fail('unauthorized');
      return await asJson(begun.all);
    }
    if (!isObject) return await asRaw(begun.all);
    const { head, all } = await peek(begun.all, HEAD_BYTES);
    await (mayBeUpload(head) ? asJson(all) : asRaw(all));
  } finally {
    // A body with a pending read cannot be dropped.
    await reserved?.stop();
    if (!reserved?.isRevoked) await bytes.return?.();
    reserved?.release();
  }
}

/** Takes a body whose bytes are the file. */
async function takeRaw(upload: Upload, bytes: ReservedBytes): Promise<void> {
  const { request } = upload;
  const counted = new CountedBytes(bytes);
  try {
    await upload.admit();
    if (lengthOf(request) <= limits.fileBytes) await bytes.wait();
    await upload.store({ statedType: request.headers['content-type'], length: lengthOf(request), bytes: counted });
  } catch (error) {
    const isWrongType = error instanceof ServiceError && error.key === 'invalidFileType';
    if (!isWrongType || request.headers['content-length'] !== undefined) throw error;
    // 413 takes precedence over other errors (errors.md#codes); without a Content-Length the size is known only at the end of the body.
    await bytes.stop();
    if (await isLonger(request.raw, limits.fileBytes - counted.size)) fail('fileTooLarge');
    throw error;
  }
}

/** Takes a body that looks like JSON. It is spooled to disk first, because its end may be what names the system. */
async function takeJson(uploads: Uploads, upload: Upload, bytes: ReservedBytes, isNamed: boolean): Promise<void> {
  const { headers } = upload.request;
  await bytes.wait();
  const kept = await uploads.services.files.spool(bytes, MAX_JSON_UPLOAD_BYTES);
  try {
    const read = await readJsonBody(kept);
    const envelope = read && readJsonUpload(headers, read.text, isNamed);
    if (read && envelope && refersTo(envelope, read.longBase64)) await takeEnvelope(uploads, upload, envelope, read.longBase64);
    else if (isNamed) await upload.store({ statedType: headers['content-type'], length: kept.size, bytes: bytesAt(kept.path) });
    else fail('badUpload', 'beside base64 it has more than 256 KiB');
  } catch (error) {
    throw sortFileError(error);
  } finally {
    await kept.discard();
  }
}

/** Dispatches by `_method`, which may turn a POST into a DELETE. Reference: requests.md#methods. */
async function takeEnvelope(
  { services, removal }: Uploads,
  upload: Upload,
  envelope: Envelope,
  long: LongBase64 | null,
): Promise<void> {
  const { request, reply } = upload;
  const method = envelope.method ?? 'POST';
  if (method === 'DELETE') {
    const params = request.params as Record<string, string>;
    request.params = { ...params, name: params.fileName };
    upload.leaveToOther();
    return answerEndpoint({ services, endpoint: removal, envelope, request, reply, started: upload.callerRequest.startedAt });
  }
  await upload.open(envelope);
  if (method === 'GET' || method === 'PUT') fail('notFound');
  if (method !== 'POST') fail('invalidJson', '_method should be GET, PUT or DELETE');
  await upload.admit();
  try {
    await upload.store({ ...fileOf(envelope.body as JsonObject, long), length: 0 });
  } catch (error) {
    // 413 takes precedence over other errors (errors.md#codes).
    if (long && error instanceof ServiceError && error.key === 'invalidFileType' && (await isTooLarge(long)))
      fail('fileTooLarge');
    throw error;
  }
}

/** Opens the file lazily, when its bytes are read. */
async function* bytesAt(path: string): AsyncIterable<Buffer> {
  yield* createReadStream(path);
}

/** Content types under which Parse clients send JSON uploads; used if a header names the application. */
function mayBeJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*(?:text\/plain|application\/json)\s*(?:;|$)/i.test(contentType);
}

const isForm = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^\s*multipart\/form-data\s*(?:;|$)/i.test(contentType);

/**
 * Rejects a multipart form: stored as raw bytes, its framing would silently become part of the file. Reference: files.md#upload.
 * @throws badUpload (107)
 */
async function rejectForm(bytes: AsyncIterableIterator<Buffer>): Promise<AsyncIterableIterator<Buffer>> {
  const { head, all } = await peek(bytes, 2);
  if (head.subarray(0, 2).toString() === '--') fail('badUpload', 'the body has to be the bytes of the file, not a form');
  return all;
}

/** Returns the Content-Length of a request; 0 if it has none. */
function lengthOf({ headers }: FastifyRequest): number {
  return Number(headers['content-length'] ?? 0);
}
