import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { anonymous, type Principal } from '../../access/index.ts';
import { ServiceError } from '../../errors/fail.ts';
import type { PrivatePlace } from '../../files/index.ts';
import { limits } from '../../kernel/limits.ts';
import { prefix } from '../../kernel/prefix.ts';
import { callerOf } from '../../requests/index.ts';
import type { Credentials, System } from '../../systems/index.ts';
import { sendError } from '../endpoint/answer.ts';
import { parseEnvelope } from '../endpoint/parse-request.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { answerFile } from './read.ts';

/** Registers reads of files in `PrivateFile` fields. A POST is also a read, with its credentials in the body. Reference: files.md#private-files. */
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
    ({ credentials } = parseEnvelope(request.headers, body));
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
    redirectToSignIn(services, request, reply);
    return 'answered';
  });
}

/**
 * Returns the caller of a read. Invalid credentials count as none, so the browser is redirected to the sign-in page. The console's cookie counts if
 * no other credential was sent, because a browser adds no headers to such reads. Reference: files.md#private-files.
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

/** Limit in characters of the return address: many clients accept no more than 16 KB of headers. */
export const MAX_RETURN_LENGTH = 8_000;

/** Redirects to the sign-in page, which returns here. Reference: console.md#sign-in-to-the-console. */
function redirectToSignIn({ addresses }: HttpServices, request: FastifyRequest, reply: FastifyReply): void {
  const base = addresses.base;
  // A request in proxy form (absolute URL) names a host, which need not be this server.
  const path = request.url.startsWith('/') ? request.url : request.url.replace(/^[^:/?#]*:\/\/[^/?#]*(?=\/)/, '');
  const returnTo = `?returnTo=${encodeURIComponent(base + (path.startsWith('/') ? path : ''))}`;
  const location = `${base}/console/sign-in${returnTo.length <= MAX_RETURN_LENGTH ? returnTo : ''}`;
  reply.code(302).headers({ location, 'cache-control': 'no-store' }).send();
}
