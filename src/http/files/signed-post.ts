import type { Readable } from 'node:stream';
import multipart, { type Multipart } from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { anonymous } from '../../access/index.ts';
import { fail, ServiceError, serviceError } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';
import { prefix } from '../../kernel/prefix.ts';
import { CallerRequest, carryOutRequest } from '../../requests/index.ts';
import type { System } from '../../systems/index.ts';
import { allowBodyTime, MAX_BODY_TIMEOUT_MS } from '../connections/body-timeout.ts';
import { refuseEarly } from '../endpoint/answer.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { hasLeft } from './body.ts';

/** A policy has some five fields, the longest of which holds the file's name in base64. */
const formLimits = {
  fields: 20,
  fieldNameSize: 100,
  fieldSize: 16 * 1024,
  headerPairs: 20,
  parts: 21,
  files: 1,
  // One byte more, so that it is the policy that refuses and nothing is cut off in silence.
  fileSize: limits.largeFileBytes + 1,
};

/** Characters of all fields of a form together: they are in memory for as long as its file takes to come, and take no place. */
const MAX_FIELDS_LENGTH = 32 * 1024;

/** CONTRACT "Large upload": the form that a policy of the disk store is for. Its fields are its credentials. */
export function registerSignedPost(server: FastifyInstance, services: HttpServices): void {
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // What is no form is left to the route to refuse, unread.
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

/** Answers one form. Never throws. */
async function answerForm(services: HttpServices, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const asked = new CallerRequest(services, request);
  await carryOutRequest(asked, {
    mayWrite: true,
    async run() {
      const system = await asked.acquire((request.params as { appId: string }).appId);
      asked.known(anonymous);
      await receiveForm(services, system, request);
      reply.code(204).send();
    },
    refuse: (error) => refuseEarly(services, reply, translate(request, error)),
    log: () => asked.log({ method: 'POST', url: request.url, statusCode: reply.statusCode }),
  });
}

/** What comes after the file is passed over, as S3 does. @throws badUpload (107), and what `Files.receive` throws */
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
      await files.receive(system, fields, withTime(request, part.file));
      return;
    }
  }
  fail('badUpload', 'it has no file');
}

function textOf({ value, valueTruncated }: Extract<Multipart, { type: 'field' }>): string {
  return typeof value === 'string' && !valueTruncated ? value : fail('badUpload', 'a field is not text or too long');
}

/** Who has shown a policy, so that bytes are asked of him, may take long to send them. */
async function* withTime({ raw }: FastifyRequest, file: Readable): AsyncIterable<Buffer> {
  allowBodyTime(raw, MAX_BODY_TIMEOUT_MS);
  yield* file;
}

function translate({ raw }: FastifyRequest, error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  if (hasLeft(raw)) return serviceError('badRequest');
  const { code } = error as { code?: unknown };
  // Of the package that reads the form, which tells of broken ones without a code.
  const isOfForm = (typeof code === 'string' && code.startsWith('FST_')) || /multipart|terminated early/i.test(String(error));
  return isOfForm ? serviceError('badUpload', 'the form cannot be read') : error;
}
