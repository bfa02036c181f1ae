import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { anonymous, type Principal } from '../../access/index.ts';
import { ServiceError } from '../../errors/fail.ts';
import type { PrivatePlace } from '../../files/index.ts';
import { limits } from '../../kernel/limits.ts';
import { prefix } from '../../kernel/prefix.ts';
import { callerOf } from '../../requests/index.ts';
import type { Credentials, System } from '../../systems/index.ts';
import { sendError } from '../endpoint/answer.ts';
import { openEnvelope } from '../endpoint/parse-request.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { answerFile } from './read.ts';

/** SPEC "Files": files of `PrivateFile` fields. A POST is a read too; it has its credentials in the body. */
export function registerPrivateReads(server: FastifyInstance, services: HttpServices): void {
  server.route({
    method: ['GET', 'HEAD', 'POST'],
    url: `${prefix}/files/:appId/:name/:className/:objectId/:field`,
    bodyLimit: limits.smallBodyBytes,
    handler(request, reply) {
      answerPrivate(services, request, reply);
    },
  });
}

function answerPrivate(services: HttpServices, request: FastifyRequest, reply: FastifyReply): void {
  let credentials: Credentials;
  try {
    const body = request.method === 'POST' ? (request.body as string | undefined) : undefined;
    ({ credentials } = openEnvelope(request.headers, body));
  } catch (error) {
    sendError(services, reply, error);
    return;
  }
  answerFile(services, request, reply, 'private', async (system) => {
    const context = {
      appId: system.appId,
      store: system.store,
      principal: await viewerOf(services, system, request, credentials),
      hooks: services.hooks,
      referer: null,
    };
    const opened = await services.files.openPrivate(context, request.params as PrivatePlace);
    if (opened !== 'signIn') return opened;
    sendToGate(services, request, reply);
    return 'answered';
  });
}

/**
 * CONTRACT "Forms and files": who brings a credential that is none is sent to the gate like anybody. The cookie of the console counts where no
 * other credential was sent, for reads that a browser makes by itself.
 */
async function viewerOf(
  { fileViewer }: HttpServices,
  system: System,
  { headers, method, ip }: FastifyRequest,
  credentials: Credentials,
): Promise<Principal> {
  if (method !== 'POST' && headers.cookie !== undefined && !Object.values(credentials).some(Boolean))
    return (await fileViewer(system, headers.cookie)) ?? anonymous;
  try {
    const principal = await callerOf(system, credentials, ip ?? '');
    return principal.kind === 'invalid' ? anonymous : principal;
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'invalidSession') return anonymous;
    throw error;
  }
}

/** Characters of what leads back: many a client reads 16 KB of headers and no more. */
const MAX_RETURN_LENGTH = 8_000;

/** CONTRACT "Addresses": the sign-in gate, which leads back here. */
function sendToGate({ addresses }: HttpServices, request: FastifyRequest, reply: FastifyReply): void {
  const base = addresses.base;
  // A request to a proxy names a server, which need not be this one.
  const path = request.url.startsWith('/') ? request.url : request.url.replace(/^[^:/?#]*:\/\/[^/?#]*(?=\/)/, '');
  const returnTo = `?returnTo=${encodeURIComponent(base + (path.startsWith('/') ? path : ''))}`;
  const location = `${base}/console/sign-in${returnTo.length <= MAX_RETURN_LENGTH ? returnTo : ''}`;
  reply.code(302).headers({ location, 'cache-control': 'no-store' }).send();
}
