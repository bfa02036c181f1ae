import { createReadStream } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Places } from '../../admission/places.ts';
import { fail, ServiceError } from '../../errors/fail.ts';
import { sortFileError } from '../../files/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { prefix } from '../../kernel/prefix.ts';
import { carryOutRequest } from '../../requests/index.ts';
import { allowBodyTime } from '../connections/body-timeout.ts';
import { senderOf } from '../endpoint/body-reader.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { answerEndpoint } from '../endpoint/endpoint-handler.ts';
import { type Envelope, openEnvelope } from '../endpoint/parse-request.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { removalEndpoint } from '../routes/files.ts';
import { beginsAsObject, bytesOf, CountedBytes, isLonger, peek } from './body.ts';
import { type LongString, readJsonBody } from './json-body.ts';
import { fileOf, HEAD_BYTES, holdsLong, isTooLarge, MAX_JSON_UPLOAD_BYTES, mayBeUpload, readJsonUpload } from './json-upload.ts';
import { PlacedBytes, uploadPlaces } from './placed.ts';
import { Upload, type Uploader } from './upload-exchange.ts';

/** Milliseconds that the bytes of a file may take: 32 MiB at 0.3 Mbit/s. */
const UPLOAD_TIMEOUT_MS = 900_000;
/** The same where nobody is named yet whose file it is: 32 MiB in base64 at 1.2 Mbit/s, waiting included. */
const UNNAMED_UPLOAD_TIMEOUT_MS = 300_000;
/** What uploads work with. */
interface Uploads {
  readonly services: HttpServices;
  readonly places: Places;
  readonly removal: Endpoint;
}

/** Takes a body whose bytes are a file, of a request whose path has the file's name as `fileName`. Never throws. */
export type TakeUpload = (request: FastifyRequest, reply: FastifyReply, uploader: Uploader) => Promise<void>;

/**
 * SPEC "Files: Upload". The body is not read before it is asked for, whatever its type.
 * @returns what takes the uploads of other parts of the service
 */
export function registerUpload(server: FastifyInstance, services: HttpServices): TakeUpload {
  const uploads: Uploads = {
    services,
    places: uploadPlaces(),
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
  await carryOutRequest(upload.asked, {
    mayWrite: true,
    run: () => take(uploads, upload, uploader),
    refuse: (error) => upload.refuse(error),
    log: () => upload.log(),
  });
}

/** A header tells whose file it is, and the body is its bytes; or the body is JSON that tells both (docs/decisions.md "Files"). */
async function take(uploads: Uploads, upload: Upload, uploader?: Uploader): Promise<void> {
  const { request } = upload;
  const { raw, headers } = request;
  const isNamed = uploader !== undefined || Boolean(headers['x-platform-application-id']);
  allowBodyTime(raw, isNamed ? UPLOAD_TIMEOUT_MS : UNNAMED_UPLOAD_TIMEOUT_MS);
  if (uploader) await upload.openFor(uploader);
  else if (isNamed) await upload.open(openEnvelope(headers, undefined));
  if (upload.fileName === '') fail('notFound');
  const length = lengthOf(request);
  const bytes = bytesOf(raw);
  let placed: PlacedBytes | undefined;
  const place = (all: AsyncIterator<Buffer>, most: number): PlacedBytes => {
    const sender = () => senderOf(uploads.services.systems, request);
    placed = new PlacedBytes({ places: uploads.places, sender, response: upload.reply.raw, size: length || most }, all);
    return placed;
  };
  const asRaw = (all: AsyncIterator<Buffer>) => takeRaw(upload, place(all, limits.fileBytes));
  const asJson = (all: AsyncIterator<Buffer>) => {
    if (length > MAX_JSON_UPLOAD_BYTES) fail('fileTooLarge');
    return takeJson(uploads, upload, place(all, MAX_JSON_UPLOAD_BYTES), isNamed);
  };
  try {
    if (uploader) return await asRaw(bytes);
    if (isNamed && isForm(headers['content-type'])) return await asRaw(await unlessForm(bytes));
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
    // A body that somebody still reads cannot be dropped.
    await placed?.drop();
    if (!placed?.isTaken) await bytes.return?.();
    placed?.free();
  }
}

/** Takes a body whose bytes are the file. */
async function takeRaw(upload: Upload, bytes: PlacedBytes): Promise<void> {
  const { request } = upload;
  const counted = new CountedBytes(bytes);
  try {
    await upload.admit();
    if (lengthOf(request) <= limits.fileBytes) await bytes.wait();
    await upload.store({ saidType: request.headers['content-type'], length: lengthOf(request), bytes: counted });
  } catch (error) {
    const isWrongType = error instanceof ServiceError && error.key === 'invalidFileType';
    if (!isWrongType || request.headers['content-length'] !== undefined) throw error;
    // SPEC "Errors": what is too large is 413 before all else, which a body that does not say its length shows at its end.
    await bytes.drop();
    if (await isLonger(request.raw, limits.fileBytes - counted.size)) fail('fileTooLarge');
    throw error;
  }
}

/** Takes a body that looks like JSON: it is kept on the disk until it is looked at, since it may say at its end whose it is. */
async function takeJson(uploads: Uploads, upload: Upload, bytes: PlacedBytes, isNamed: boolean): Promise<void> {
  const { headers } = upload.request;
  await bytes.wait();
  const kept = await uploads.services.files.spool(bytes, MAX_JSON_UPLOAD_BYTES);
  try {
    const read = await readJsonBody(kept);
    const envelope = read && readJsonUpload(headers, read.text, isNamed);
    if (read && envelope && holdsLong(envelope, read.long)) await takeEnvelope(uploads, upload, envelope, read.long);
    else if (isNamed) await upload.store({ saidType: headers['content-type'], length: kept.size, bytes: bytesAt(kept.path) });
    else fail('badUpload', 'beside base64 it has more than 256 KiB');
  } catch (error) {
    throw sortFileError(error);
  } finally {
    await kept.discard();
  }
}

/** CONTRACT "Requests": `_method` gives DELETE over POST. */
async function takeEnvelope(
  { services, removal }: Uploads,
  upload: Upload,
  envelope: Envelope,
  long: LongString | null,
): Promise<void> {
  const { request, reply } = upload;
  const method = envelope.method ?? 'POST';
  if (method === 'DELETE') {
    const params = request.params as Record<string, string>;
    request.params = { ...params, name: params.fileName };
    upload.handOn();
    return answerEndpoint({ services, endpoint: removal, envelope, request, reply, started: upload.asked.startedAt });
  }
  await upload.open(envelope);
  if (method === 'GET' || method === 'PUT') fail('notFound');
  if (method !== 'POST') fail('invalidJson', '_method should be GET, PUT or DELETE');
  await upload.admit();
  try {
    await upload.store({ ...fileOf(envelope.body as JsonObject, long), length: 0 });
  } catch (error) {
    // SPEC "Errors": what is too large is 413 before all else.
    if (long && error instanceof ServiceError && error.key === 'invalidFileType' && (await isTooLarge(long)))
      fail('fileTooLarge');
    throw error;
  }
}

/** Opens the file when its bytes are asked for. */
async function* bytesAt(path: string): AsyncIterable<Buffer> {
  yield* createReadStream(path);
}

/** Where a header names the application: types that JSON is sent as by clients of Parse. */
function mayBeJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*(?:text\/plain|application\/json)\s*(?:;|$)/i.test(contentType);
}

const isForm = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^\s*multipart\/form-data\s*(?:;|$)/i.test(contentType);

/** SPEC "Files: Upload": raw bytes. A form's envelope would become the file, unnoticed. @throws badUpload (107) */
async function unlessForm(bytes: AsyncIterableIterator<Buffer>): Promise<AsyncIterableIterator<Buffer>> {
  const { head, all } = await peek(bytes, 2);
  if (head.subarray(0, 2).toString() === '--') fail('badUpload', 'the body has to be the bytes of the file, not a form');
  return all;
}

/** Bytes that the client says it sends; 0 where it does not say. */
function lengthOf({ headers }: FastifyRequest): number {
  return Number(headers['content-length'] ?? 0);
}
