import type { FastifyReply, FastifyRequest } from 'fastify';
import { isPassing, isRefusal } from '../../errors/fail.ts';
import { prefix } from '../../kernel/prefix.ts';
import { faultPlace } from '../../observe/index.ts';
import { CallerRequest } from '../../requests/index.ts';
import { headerCredentials } from './parse-request.ts';
import type { HttpServices } from './services.ts';

/**
 * Refuses a request that no endpoint was asked for. Where its header names a system, a write is logged there.
 * @param send sends the answer
 */
export async function refuseUnasked(
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
    refused.sent(credentials);
    const { method, url } = request;
    // A key holder is known at once.
    const principal = system.registration.principalFor(credentials);
    refused.log({ method, url, statusCode: reply.statusCode, principal, startedAt: performance.now() });
  } finally {
    refused.release();
  }
}

const writes: ReadonlySet<string> = new Set(['POST', 'PUT', 'DELETE']);

/** The system in whose log the request belongs. A fault here keeps no answer back. */
async function namedSystem({ conditions }: HttpServices, request: FastifyRequest, refused: CallerRequest) {
  const appId = request.headers['x-platform-application-id'];
  const isWrite = writes.has(request.method) && request.url.startsWith(`${prefix}/`);
  if (!isWrite || typeof appId !== 'string' || appId === '') return undefined;
  try {
    return await refused.acquire(appId);
  } catch (error) {
    // A store that does not work is reported where it is met.
    if (!isPassing(error) && !isRefusal(error)) conditions.met('a request was not logged', faultPlace(error), error);
    return undefined;
  }
}
