import type { Readable } from 'node:stream';
import multipart, { type Multipart } from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { anonymous } from '../../access/index.ts';
import { fail, ServiceError, serviceError } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';
import { prefix } from '../../kernel/prefix.ts';
import { CallerRequest, executeRequest } from '../../requests/index.ts';
import type { System } from '../../systems/index.ts';
import { MAX_BODY_TIMEOUT_MS, setBodyTimeout } from '../connections/body-timeout.ts';
import { refuseEarly } from '../endpoint/answer.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { hasLeft } from './body.ts';

/** Limits of the form. A policy has about five fields; the longest holds the file's name in base64. */
const formLimits = {
  fields: 20,
  fieldNameSize: 100,
  fieldSize: 16 * 1024,
  headerPairs: 20,
  parts: 21,
  files: 1,
  // One byte more than allowed, so that the policy check rejects the file instead of the parser truncating it silently.
  fileSize: limits.largeFileBytes + 1,
};

/** Limit of all field values of a form together: they stay in memory while the file arrives, without a reservation. */
export const MAX_FIELDS_LENGTH = 32 * 1024;

/** Registers the form upload that a policy of the disk store permits. Its fields are its credentials. Reference: files.md#large-uploads. */
export function registerSignedPost(server: FastifyInstance, services: HttpServices): void {
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The route itself rejects other content types, without reading the body.
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    scope.register(multipart, { limits: formLimits, throwFileSizeLimit: false });
    scope.route({
      method: 'POST',
      url: `${prefix}/files/signed-post/:appId`,
      handler(request, reply) {
        answerForm(services, request, reply);
      },
    });
    done();
  });
}

/** Answers one form upload. Never throws. */
async function answerForm(services: HttpServices, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const callerRequest = new CallerRequest(services, request);
  await executeRequest(callerRequest, {
    mayWrite: true,
    async run() {
      const system = await callerRequest.acquire((request.params as { appId: string }).appId);
      callerRequest.setCaller(anonymous);
      await receiveForm(services, system, request);
      reply.code(204).send();
    },
    refuse: (error) => refuseEarly(services, reply, translate(request, error)),
    log: () => callerRequest.log({ method: 'POST', url: request.url, statusCode: reply.statusCode }),
  });
}

/** Reads the form up to its file; what follows the file is ignored, as on S3. @throws badUpload (107), and errors of `Files.receive` */
async function receiveForm({ files }: HttpServices, system: System, request: FastifyRequest): Promise<void> {
  if (!request.isMultipart()) fail('badUpload', 'it is no multipart/form-data');
  const fields = new Map<string, string>();
  let length = 0;
  for await (const part of request.parts()) {
    if (part.type === 'field') {
      const text = textOf(part);
      length += text.length;
      if (length > MAX_FIELDS_LENGTH) fail('badUpload', 'the fields are too long together');
      fields.set(part.fieldname, text);
    } else if (part.fieldname.toLowerCase() !== 'file') fail('badUpload', 'the file should be named file');
    else {
      await files.receive(system, fields, withBodyTimeout(request, part.file));
      return;
    }
  }
  fail('badUpload', 'it has no file');
}

function textOf({ value, valueTruncated }: Extract<Multipart, { type: 'field' }>): string {
  return typeof value === 'string' && !valueTruncated ? value : fail('badUpload', 'a field is not text or too long');
}

/** Extends the body's time limit once the policy was accepted and the bytes are read. */
async function* withBodyTimeout({ raw }: FastifyRequest, file: Readable): AsyncIterable<Buffer> {
  setBodyTimeout(raw, MAX_BODY_TIMEOUT_MS);
  yield* file;
}

function translate({ raw }: FastifyRequest, error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  if (hasLeft(raw)) return serviceError('badRequest');
  const { code } = error as { code?: unknown };
  // Errors of the multipart parser; malformed forms have no code.
  const isOfForm = (typeof code === 'string' && code.startsWith('FST_')) || /multipart|terminated early/i.test(String(error));
  return isOfForm ? serviceError('badUpload', 'the form cannot be read') : error;
}
