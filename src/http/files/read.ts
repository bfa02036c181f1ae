import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { serviceError } from '../../errors/fail.ts';
import type { OpenFile } from '../../files/index.ts';
import { isJsonObject, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { prefix } from '../../kernel/prefix.ts';
import { withSystem } from '../../requests/index.ts';
import type { System } from '../../systems/index.ts';
import { parseRequestJson } from '../../values/index.ts';
import { sendError } from '../endpoint/answer.ts';
import { logAndReject } from '../endpoint/log-rejected.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { type FileAddress, sendFile, sendMissing } from './send.ts';

/** Opens a file; `null` if it does not exist, `'answered'` if the request was already answered. */
type OpenFileOf = (system: System) => Promise<OpenFile | null | 'answered'>;

/** Registers the reads that need no credentials. Reference: files.md#public-files. */
export function registerReads(server: FastifyInstance, services: HttpServices): void {
  const { files } = services;
  const method = ['GET', 'HEAD'];
  const nameOf = (request: FastifyRequest) => (request.params as { name: string }).name;
  const upload = `${prefix}/files/:appId/:name`;
  server.route({
    method,
    url: upload,
    handler(request, reply) {
      answerFile(services, request, reply, 'upload', (system) => files.openUpload(system, nameOf(request)));
    },
  });
  server.route({
    method,
    url: '/static/:appId/:name',
    handler(request, reply) {
      answerFile(services, request, reply, 'public', (system) => files.openPublic(system, nameOf(request)));
    },
  });
  server.route({
    method: 'POST',
    url: upload,
    bodyLimit: limits.smallBodyBytes,
    handler: (request, reply) => rejectPost(services, request, reply),
  });
}

/** Answers with a file of the system in the path. The system is held until the file is sent. Never throws. */
export async function answerFile(
  services: HttpServices,
  request: FastifyRequest,
  reply: FastifyReply,
  way: FileAddress,
  open: OpenFileOf,
): Promise<void> {
  try {
    const isAnswered = await withSystem(services.systems, (request.params as { appId: string }).appId, async (system) => {
      const opened = await open(system);
      return opened === 'answered' || (opened !== null && (await sendFile(services, request, reply, opened, way)));
    });
    if (!isAnswered) sendMissing(reply);
  } catch (error) {
    sendError(services, reply, error);
  }
}

/** Answers a POST without credentials: like a missing file if its body names the system, else 403. Reference: files.md#private-files. */
function rejectPost(services: HttpServices, request: FastifyRequest, reply: FastifyReply): void {
  const { appId } = request.params as { appId: string };
  const isNamed = namedSystem(request.body) === appId;
  logAndReject(services, request, reply, () => {
    if (isNamed) sendMissing(reply);
    else sendError(services, reply, serviceError('unauthorized'));
  });
}

function namedSystem(body: unknown): unknown {
  if (typeof body !== 'string') return undefined;
  try {
    const sent = parseRequestJson(body);
    return isJsonObject(sent) ? own(sent, '_ApplicationId') : undefined;
  } catch {
    return undefined;
  }
}
