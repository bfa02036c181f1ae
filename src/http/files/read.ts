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
import { refuseUnasked } from '../endpoint/log-rejected.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { sendFile, sendMissing, type Way } from './send.ts';

/** How a file of a system is asked for; `null` where it is not there, `'answered'` where the client has another answer already. */
type Open = (system: System) => Promise<OpenFile | null | 'answered'>;

/** The addresses that take no credentials (SPEC "Files" rule 6; CONTRACT "Forms and files"). */
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
    handler: (request, reply) => refusePost(services, request, reply),
  });
}

/** Answers with a file of the system that the path names. The system is held until the file is sent. Never throws. */
export async function answerFile(
  services: HttpServices,
  request: FastifyRequest,
  reply: FastifyReply,
  way: Way,
  open: Open,
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

/** SPEC "Files" rule 7. */
function refusePost(services: HttpServices, request: FastifyRequest, reply: FastifyReply): void {
  const { appId } = request.params as { appId: string };
  const isNamed = namedSystem(request.body) === appId;
  refuseUnasked(services, request, reply, () => {
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
