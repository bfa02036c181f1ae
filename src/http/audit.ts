import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../access/index.ts';
import { factsOf, logRequest } from '../audit/index.ts';
import { isPassing } from '../errors/fail.ts';
import { faultPlace } from '../observe/index.ts';
import type { Credentials, System } from '../systems/index.ts';
import type { Edge } from './edge.ts';
import type { Endpoint } from './endpoint.ts';

/** What the log is told beside what the request and its answer say themselves. */
export interface Noted {
  readonly method: string;
  /** `null` where nobody is to be named. */
  readonly principal: Principal | null;
  /** `null` where none was sent. */
  readonly installationId: string | null;
  readonly credentials: Credentials;
  /** By `performance.now()`. */
  readonly started: number;
}

/** Whether requests to an endpoint are logged (SPEC "Other system tables": writes only). */
export function isLogged({ method }: Endpoint): boolean {
  return method !== 'GET';
}

/**
 * Adds an answered request to the log of its system, at the latest in the turn of the event loop that let go of it. Nobody waits for it,
 * and nothing that goes wrong here comes back to the caller.
 */
export function noteRequest(edge: Edge, system: System, request: FastifyRequest, reply: FastifyReply, noted: Noted): void {
  try {
    logRequest(system.store, {
      method: noted.method,
      url: request.url,
      ...factsOf(request, edge.trustProxy),
      installationId: noted.installationId ?? undefined,
      credentials: Object.values(noted.credentials).filter((one) => typeof one === 'string'),
      principal: noted.principal,
      statusCode: reply.statusCode,
      duration: performance.now() - noted.started,
    });
  } catch (error) {
    // A store that does not work is told of where it is met.
    if (!isPassing(error)) edge.conditions.met('a request was not logged', faultPlace(error), error);
  }
}

/** Has a request's address known though its connection may be gone when the request is noted: it is remembered once it was asked for. */
export function rememberAddress(request: FastifyRequest): void {
  void request.ip;
}
