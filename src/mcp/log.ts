import type { FastifyRequest } from 'fastify';
import type { Principal } from '../access/index.ts';
import { factsOf, logRequest } from '../audit/index.ts';
import { isPassing } from '../errors/fail.ts';
import { faultPlace } from '../observe/index.ts';
import type { System } from '../systems/index.ts';
import { credentialsOf } from './modes/caller.ts';
import type { McpParts } from './parts.ts';

/** A request for tools that is noted in the log of its system. */
export interface NotedRequest {
  readonly system: System;
  readonly request: FastifyRequest;
  /** `null` where nobody is to be named. */
  readonly principal: Principal | null;
  readonly tool: string;
  readonly statusCode: number;
  /** By `performance.now()`. */
  readonly started: number;
}

/** Adds a call to `_RequestLog`, as writes over REST are (SPEC "Other system tables"). Nothing that goes wrong here comes back to the caller. */
export function noteCall(
  { conditions, trustProxy }: McpParts,
  { system, request, principal, tool, statusCode, started }: NotedRequest,
): void {
  try {
    logRequest(system.store, {
      method: 'POST',
      url: `/mcp/${system.appId}/${tool}`,
      service: 'mcp',
      ...factsOf(request, trustProxy),
      installationId: undefined,
      credentials: Object.values(credentialsOf(request.headers)).filter((one) => one !== undefined),
      principal,
      statusCode,
      duration: performance.now() - started,
    });
  } catch (error) {
    // A store that does not work is told of where it is met.
    if (!isPassing(error)) conditions.met('a call was not logged', faultPlace(error), error);
  }
}
