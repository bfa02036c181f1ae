import type { FastifyReply, FastifyRequest } from 'fastify';
import { isPassing } from '../errors/fail.ts';
import { prefix } from '../kernel/prefix.ts';
import { faultPlace } from '../observe/index.ts';
import type { System } from '../systems/index.ts';
import { noteRequest } from './audit.ts';
import type { Edge } from './edge.ts';
import { headerCredentials } from './envelope.ts';

/**
 * Refuses a request before any endpoint was asked. Where its header names a system, the log of that hears of a write.
 * @param send sends the answer
 */
export function refuseUnasked(edge: Edge, request: FastifyRequest, reply: FastifyReply, send: () => void): void {
  const end = (system?: System) => {
    send();
    if (!system) return;
    const credentials = headerCredentials(request.headers);
    noteRequest(edge, system, request, reply, {
      method: request.method,
      // A key holder is known at once.
      principal: system.registration.principalFor(credentials),
      installationId: null,
      credentials,
      started: performance.now(),
    });
    system.release();
  };
  const named = namedSystem(edge, request);
  if (named instanceof Promise) named.then(end);
  else end(named);
}

const writes: ReadonlySet<string> = new Set(['POST', 'PUT', 'DELETE']);

/** The system whose log is to hear of it, held. What goes wrong here keeps nobody from his answer. */
function namedSystem({ systems, conditions }: Edge, request: FastifyRequest): System | undefined | Promise<System | undefined> {
  const appId = request.headers['x-platform-application-id'];
  const isWrite = writes.has(request.method) && request.url.startsWith(`${prefix}/`);
  if (!isWrite || typeof appId !== 'string' || appId === '') return undefined;
  const unfound = (error: unknown) => {
    // A store that does not work is told of where it is met.
    if (!isPassing(error)) conditions.met('a request was not logged', faultPlace(error), error);
    return undefined;
  };
  try {
    const found = systems.acquire(appId);
    return found instanceof Promise ? found.catch(unfound) : found;
  } catch (error) {
    return unfound(error);
  }
}
