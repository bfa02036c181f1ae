import type { FastifyRequest } from 'fastify';
import type { Principal } from '../access/index.ts';
import { logRequest } from '../audit/index.ts';
import type { System } from '../systems/index.ts';
import { credentialsOf } from './modes/caller.ts';
import type { McpParts } from './parts.ts';

/** A request for tools that is noted in the log of its system. */
export interface NotedRequest {
  readonly system: System;
  readonly request: FastifyRequest;
  /** `null` where nobody is to be named. */
  readonly principal: Principal | null;
  /** The tool; left out where none was asked. */
  readonly tool?: string | undefined;
  readonly statusCode: number;
  /** By `performance.now()`. */
  readonly started: number;
}

/** Adds a call to `_RequestLog`, as writes over REST are (SPEC "Other system tables"). Nothing that goes wrong here comes back to the caller. */
export function noteCall(
  { log, trustProxy }: McpParts,
  { system, request, principal, tool, statusCode, started }: NotedRequest,
): void {
  const { headers } = request;
  try {
    logRequest(system.store, {
      method: 'POST',
      url: `/mcp/${system.appId}${tool === undefined ? '' : `/${tool}`}`,
      service: 'mcp',
      // The framework has none for a connection that is gone.
      ip: request.ip ?? '',
      country: countryOf(trustProxy, request),
      referer: headers.referer,
      userAgent: headers['user-agent'],
      installationId: undefined,
      credentials: Object.values(credentialsOf(headers)).filter((one) => one !== undefined),
      principal,
      statusCode,
      contentLength: lengthOf(request),
      duration: performance.now() - started,
    });
  } catch (error) {
    log.error({ err: error, request: request.id }, 'a call was not logged');
  }
}

/** The country that a proxy names, where the request came by one whose word counts. */
function countryOf(trustProxy: McpParts['trustProxy'], { headers, ips }: FastifyRequest): string | undefined {
  const country = headers['cf-ipcountry'];
  if (trustProxy === false || typeof country !== 'string' || !/^[A-Z][A-Z0-9]$/i.test(country)) return undefined;
  return trustProxy === true || (ips?.length ?? 0) > 1 ? country.toUpperCase() : undefined;
}

/** Bytes of the body as it was sent; where nobody said, those of its text. */
function lengthOf({ headers, body }: FastifyRequest): number {
  const said = headers['content-length'];
  if (said !== undefined) return Number(said) || 0;
  return typeof body === 'string' ? Buffer.byteLength(body) : 0;
}
