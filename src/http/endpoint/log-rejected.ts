import type { FastifyReply, FastifyRequest } from 'fastify';
import { isPassing, isRefusal } from '../../errors/fail.ts';
import { prefix } from '../../kernel/prefix.ts';
import { faultPlace } from '../../observe/index.ts';
import { CallerRequest } from '../../requests/index.ts';
import { headerCredentials } from './parse-request.ts';
import type { HttpServices } from './services.ts';

/** Rejects a request that reached no endpoint. If its headers name a system and it may write, it is logged there. @param send sends the answer */
export async function logAndReject(
  services: HttpServices,
  request: FastifyRequest,
  reply: FastifyReply,
  send: () => void,
): Promise<void> {
  const refused = new CallerRequest(services, request);
  const system = await namedSystem(services, request, refused);
  try {
    send();
    if (!system) return;
    const credentials = headerCredentials(request.headers);
    refused.recordCredentials(credentials);
    const { method, url } = request;
    // Keys are checked synchronously; sessions are not looked up.
    const principal = system.registration.principalFor(credentials);
    refused.log({ method, url, statusCode: reply.statusCode, principal, startedAt: performance.now() });
  } finally {
    refused.release();
  }
}

const writes: ReadonlySet<string> = new Set(['POST', 'PUT', 'DELETE']);

/** Returns the system whose log records the request. A fault here must not delay or prevent the answer. */
async function namedSystem({ conditions }: HttpServices, request: FastifyRequest, refused: CallerRequest) {
  const appId = request.headers['x-platform-application-id'];
  const isWrite = writes.has(request.method) && request.url.startsWith(`${prefix}/`);
  if (!isWrite || typeof appId !== 'string' || appId === '') return undefined;
  try {
    return await refused.acquire(appId);
  } catch (error) {
    // Storage outages are reported by the code that meets them.
    if (!isPassing(error) && !isRefusal(error)) conditions.met('a request was not logged', faultPlace(error), error);
    return undefined;
  }
}
