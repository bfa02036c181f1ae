import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail, ServiceError, serviceError } from '../../errors/fail.ts';
import { renderError, retryAfterOf } from '../../errors/render.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { faultPlace } from '../../observe/index.ts';
import { CallerRequest, executeOnSystem } from '../../requests/index.ts';
import type { System } from '../../systems/index.ts';
import { consoleSession } from '../../users/index.ts';
import { bodyBounds, parseJson } from '../../values/index.ts';
import { apiPath } from '../context/addresses.ts';
import type { ConsoleCookies } from '../context/cookies.ts';
import type { ConsoleServices } from '../context/services.ts';
import { ConflictError } from '../data/index.ts';
import type { ApiEndpoint, ApiRequest } from '../protocol/api-endpoint.ts';

const jsonType = 'application/json; charset=utf-8';

/** Dependencies of the API endpoints. */
export interface ApiParts {
  readonly services: ConsoleServices;
  readonly cookies: ConsoleCookies;
  /** Returns the current build of the program; an older program then reloads itself. */
  readonly build: () => string;
}

/** A request with a known system, before its user is authenticated. */
export interface ApiCall {
  readonly system: System;
  readonly sent: ApiRequest;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The pipeline of the request. */
  readonly caller: CallerRequest;
}

/** An API endpoint that needs no session. */
export interface OpenEndpoint {
  readonly method: ApiEndpoint['method'];
  readonly path: string;
  run(call: ApiCall): Promise<object>;
}

/** Registers endpoints that need no session: sign-in. */
export function registerOpen(server: FastifyInstance, parts: ApiParts, endpoints: readonly OpenEndpoint[]): void {
  for (const { method, path, run } of endpoints) register(server, parts, { method, path, run });
}

/** Registers endpoints for signed-in users. */
export function registerApi(server: FastifyInstance, parts: ApiParts, endpoints: readonly ApiEndpoint[]): void {
  for (const { method, path, maxBodyBytes, run } of endpoints)
    register(server, parts, { method, path, run: (call) => runAsUser(parts, call, run) }, maxBodyBytes);
}

/** Runs an endpoint as the session's user. Its reads are aborted when the client disconnects. */
async function runAsUser({ services, cookies }: ApiParts, call: ApiCall, run: ApiEndpoint['run']): Promise<object> {
  const { system, request, reply, caller, sent } = call;
  const { principal } = await consoleSession(system.store, cookies.sessionOf(request.headers.cookie, system.appId));
  const leave = new AbortController();
  const left = () => leave.abort();
  reply.raw.once('close', left);
  try {
    const context = { ...caller.contextOf(caller.setCaller(principal)), system, services, signal: leave.signal };
    return await run(context, sent);
  } finally {
    reply.raw.off('close', left);
  }
}

function register(
  server: FastifyInstance,
  parts: ApiParts,
  { method, path, run }: OpenEndpoint,
  bodyLimit: number = limits.smallBodyBytes,
): void {
  server.route({
    method,
    url: `${apiPath}/:appId${path}`,
    bodyLimit,
    handler: (request, reply) => answer(parts, request, reply, run),
  });
}

function answer({ services, build }: ApiParts, request: FastifyRequest, reply: FastifyReply, run: OpenEndpoint['run']): void {
  const caller = new CallerRequest(services, request);
  const { method, url } = request;
  const isWrite = method !== 'GET';
  reply.headers({ 'content-type': jsonType, 'cache-control': 'no-store', 'x-console-build': build() });
  const { appId, ...params } = request.params as Record<string, string>;
  executeOnSystem(caller, {
    appId,
    mayWrite: isWrite,
    async run(system) {
      const sent = { params, query: request.query as ReadonlyMap<string, string>, body: await bodyOf(request, system.appId) };
      reply.send(JSON.stringify(await run({ system, sent, request, reply, caller })));
    },
    refuse: (error) => refuse(services, reply, error),
    ...(isWrite && { log: () => caller.log({ method, url, statusCode: reply.statusCode, service: 'console' }) }),
  });
}

/** @param system whose turns a long body uses @throws invalidJson (107), tooManyValues (413) */
async function bodyOf({ body, headers }: FastifyRequest, system: string): Promise<JsonValue | undefined> {
  if (typeof body !== 'string' || body === '') return undefined;
  if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) return fail('invalidJson', 'the body should be JSON');
  return parseJson(body, bodyBounds, system);
}

/** Answers with an error. */
export function refuse(services: ConsoleServices, reply: FastifyReply, error: unknown): void {
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  if (!(error instanceof ServiceError)) services.conditions.met('a request of the console failed', faultPlace(error), error);
  const { status, json } = renderError(error);
  const text = error instanceof ConflictError ? JSON.stringify({ ...JSON.parse(json), conflict: error.conflict }) : json;
  reply.code(status).header('content-type', jsonType).send(text);
}

/** Answers 404. */
export const refuseUnknown = (services: ConsoleServices, reply: FastifyReply): void =>
  refuse(services, reply, serviceError('notFound'));
