import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import pLimit, { type LimitFunction } from 'p-limit';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { allowBodyTime } from '../body-times.ts';
import { answerEndpoint } from '../data.ts';
import type { Edge } from '../edge.ts';
import type { Endpoint } from '../endpoint.ts';
import { type Envelope, openEnvelope } from '../envelope.ts';
import { prefix } from '../prefix.ts';
import { removalEndpoint } from '../routes/files.ts';
import { beginsAsObject, bytesOf, peek } from './body.ts';
import { fileOf, jsonUploadBytes, readJsonUpload } from './json-upload.ts';
import { Upload } from './upload-exchange.ts';

/** Milliseconds that the bytes of a file may take: 32 MiB at 0.3 Mbit/s. */
const UPLOAD_TIME = 900_000;
/** JSON uploads that are in memory at once: each may take some 100 MB there. */
const IN_MEMORY = 2;

/** What uploads work with. */
interface Uploads {
  readonly edge: Edge;
  readonly inMemory: LimitFunction;
  readonly removal: Endpoint;
}

/** SPEC "Files: Upload". The body is not read before it is asked for, whatever its type. */
export function registerUpload(server: FastifyInstance, edge: Edge): void {
  const uploads: Uploads = { edge, inMemory: pLimit(IN_MEMORY), removal: removalEndpoint(edge.files) };
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
}

/** Answers one upload. Never throws. */
async function answerUpload(uploads: Uploads, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const upload = new Upload(uploads.edge, request, reply);
  try {
    allowBodyTime(request.raw, UPLOAD_TIME);
    await take(uploads, upload);
  } catch (error) {
    upload.refuse(error);
  } finally {
    upload.release();
  }
}

/** A header tells whose file it is, and the body is its bytes; or the body is JSON that tells both (docs/decisions.md "Files"). */
async function take(uploads: Uploads, upload: Upload): Promise<void> {
  const { request } = upload;
  const { raw, headers } = request;
  const isNamed = Boolean(headers['x-platform-application-id']);
  if (isNamed) await upload.open(openEnvelope(headers, undefined));
  if (upload.fileName === '') fail('notFound');
  const bytes = bytesOf(raw);
  try {
    const said = { saidType: headers['content-type'], length: lengthOf(request) };
    if (isNamed && !mayBeJson(headers['content-type'])) return await upload.store({ ...said, bytes });
    const { first, all } = await peek(bytes);
    if (beginsAsObject(first)) return await takeJson(uploads, upload, all, isNamed);
    if (!isNamed) fail('unauthorized');
    await upload.store({ ...said, bytes: all });
  } finally {
    // A body that somebody still reads cannot be dropped.
    await bytes.return?.();
  }
}

/** Takes a body that looks like JSON: it is kept on the disk until it is looked at, since it may say at its end whose it is. */
async function takeJson(uploads: Uploads, upload: Upload, bytes: AsyncIterable<Buffer>, isNamed: boolean): Promise<void> {
  const { headers } = upload.request;
  if (lengthOf(upload.request) > jsonUploadBytes) fail('fileTooLarge');
  const kept = await uploads.edge.files.spool(bytes, jsonUploadBytes);
  try {
    const isTaken = await uploads.inMemory(async () => {
      const envelope = readJsonUpload(headers, await readFile(kept.path), isNamed);
      if (envelope) await takeEnvelope(uploads, upload, envelope);
      return envelope !== null;
    });
    if (!isTaken) await upload.store({ saidType: headers['content-type'], length: kept.size, bytes: bytesAt(kept.path) });
  } finally {
    await kept.discard();
  }
}

/** CONTRACT "Requests": `_method` gives DELETE over POST. */
async function takeEnvelope({ edge, removal }: Uploads, upload: Upload, envelope: Envelope): Promise<void> {
  const { request, reply, started } = upload;
  const method = envelope.method ?? 'POST';
  if (method === 'DELETE') {
    const params = request.params as Record<string, string>;
    request.params = { ...params, name: params.fileName };
    return answerEndpoint({ edge, endpoint: removal, envelope, request, reply, started });
  }
  await upload.open(envelope);
  if (method === 'GET' || method === 'PUT') fail('notFound');
  if (method !== 'POST') fail('invalidJson', '_method should be GET, PUT or DELETE');
  await upload.admit();
  const { saidType, bytes } = fileOf(envelope.body as JsonObject);
  await upload.store({ saidType, length: bytes.length, bytes: asPieces(bytes) });
}

/** Opens the file when its bytes are asked for. */
async function* bytesAt(path: string): AsyncIterable<Buffer> {
  yield* createReadStream(path);
}

async function* asPieces(bytes: Buffer): AsyncIterable<Buffer> {
  yield bytes;
}

/** Where a header names the application: types that JSON is sent as by clients of Parse. */
function mayBeJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*(?:text\/plain|application\/json)\s*(?:;|$)/i.test(contentType);
}

/** Bytes that the client says it sends; 0 where it does not say. */
function lengthOf({ headers }: FastifyRequest): number {
  return Number(headers['content-length'] ?? 0);
}
