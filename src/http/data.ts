import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { anonymous, type Principal } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import { endOfWrite } from '../errors/system-faults.ts';
import { isJsonObject } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { prefix } from '../kernel/prefix.ts';
import { PatternBudget } from '../query/regex/index.ts';
import type { QueryParameters } from '../query/scope.ts';
import { endOf, type Progress, tellsOfFunction } from '../records/index.ts';
import type { System } from '../systems/index.ts';
import { principalFor } from '../users/index.ts';
import { sendError, sendReply } from './answer.ts';
import { isLogged, noteRequest } from './audit.ts';
import type { Edge } from './edge.ts';
import type { ApiReply, ApiRequest, Endpoint } from './endpoint.ts';
import { type Envelope, envelopeOf, openEnvelope } from './envelope.ts';
import { LONG_BODY, LongBodies } from './long-bodies.ts';
import { FramedPieces } from './pieces.ts';
import { refuseUnasked } from './unasked.ts';

type Params = Readonly<Record<string, string>>;

/** One request on its way to its answer. */
export interface Exchange {
  readonly edge: Edge;
  readonly endpoint: Endpoint;
  readonly envelope: Envelope;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** By `performance.now()`. */
  readonly started: number;
}

/** Registers the data endpoints below the prefix. */
export function registerDataEndpoints(server: FastifyInstance, edge: Edge, endpoints: readonly Endpoint[]): void {
  const long = new LongBodies(edge);
  for (const [path, ofPath] of Map.groupBy(endpoints, (endpoint) => endpoint.path)) {
    const byMethod = new Map<unknown, Endpoint>(ofPath.map((endpoint) => [endpoint.method, endpoint]));
    // A POST may stand for any of the others, so each path takes one.
    const methods = new Set([...byMethod.keys(), 'POST']) as Set<Endpoint['method']>;
    if (ofPath.some((endpoint) => endpoint.isPostElsewhere)) methods.delete('POST');
    const bodyLimit = Math.max(...ofPath.map(({ bodyBytes = limits.bodyBytes }) => bodyBytes));
    for (const method of methods) {
      const choose = method === 'POST' ? chooserOf(byMethod) : fixed(byMethod.get(method));
      const url = prefix + path;
      server.route({ method, url, bodyLimit, handler: (request, reply) => handle({ edge, choose, long }, request, reply) });
    }
  }
}

/** What a path is answered with. */
interface Routed {
  readonly edge: Edge;
  readonly choose: Choose;
  readonly long: LongBodies;
}

/** The endpoint for a request's `_method`; `undefined` where the path has none. */
type Choose = (method: unknown) => Endpoint | undefined;

const fixed =
  (endpoint: Endpoint | undefined): Choose =>
  () =>
    endpoint;

/** CONTRACT "Requests": `_method` gives GET, PUT and DELETE over POST. */
function chooserOf(byMethod: ReadonlyMap<unknown, Endpoint>): Choose {
  return (method) => {
    if (method === undefined || method === null) return byMethod.get('POST');
    if (method === 'GET' || method === 'POST' || method === 'PUT' || method === 'DELETE') return byMethod.get(method);
    return fail('invalidJson', '_method should be GET, PUT or DELETE');
  };
}

/** Answers one request: body, then application id, then caller, then the endpoint. */
function handle({ edge, choose, long }: Routed, request: FastifyRequest, reply: FastifyReply): void {
  const started = performance.now();
  const refuse = (error: unknown) => refuseUnasked(edge, request, reply, () => sendError(edge, reply, error));
  const answer = (envelope: Envelope) => {
    const endpoint = choose(envelope.method) ?? fail('notFound');
    answerEndpoint({ edge, endpoint, envelope, request, reply, started });
  };
  try {
    const params = request.params as Params;
    for (const name in params) if (params[name] === '') fail('notFound');
    const { headers, body } = request as { headers: FastifyRequest['headers']; body: string | undefined };
    // Its place is free when the answer is made; the request is there until that is taken.
    request.body = undefined;
    if (body === undefined || body.length < LONG_BODY) answer(openEnvelope(headers, body));
    else
      long
        .read(request, reply, body)
        .then((value) => answer(envelopeOf(headers, value)))
        .catch(refuse);
  } catch (error) {
    refuse(error);
  }
}

/** Has an endpoint answer a request whose body was read. @throws unauthorized (403), and what goes wrong where systems are looked up */
export function answerEndpoint(exchange: Exchange): void {
  const { edge, endpoint, reply } = exchange;
  const { appId } = exchange.envelope;
  const found = typeof appId === 'string' ? edge.systems.acquire(appId) : undefined;
  if (found instanceof Promise) {
    const refuse = (error: unknown) => sendError(edge, reply, mayWrite(endpoint) ? endOfWrite(error) : error);
    found.then((system) => ask(exchange, system)).catch(refuse);
  } else ask(exchange, found);
}

/** Finds out who asks, then asks the endpoint; lets go of the system when the answer no longer needs it. @throws unauthorized (403) */
function ask(exchange: Exchange, system: System | undefined): void {
  if (!system) fail('unauthorized');
  let caller: Principal | null = null;
  const progress: Progress = { hasWritten: false };
  const refuse = (error: unknown) => {
    system.release();
    sendError(exchange.edge, exchange.reply, endOf(error, progress, mayWrite(exchange.endpoint)));
    note(exchange, system, caller);
  };
  const answer = (principal: Principal) => {
    caller = principal;
    try {
      const asked = exchange.endpoint.handle(apiRequest(exchange, system, principal, progress));
      if (asked instanceof Promise) asked.then((reply) => deliver(exchange, system, principal, reply), refuse);
      else deliver(exchange, system, principal, asked);
    } catch (error) {
      refuse(error);
    }
  };
  let principal: Principal | Promise<Principal>;
  try {
    principal = exchange.endpoint.open ? anonymous : callerOf(system, exchange);
  } catch (error) {
    refuse(error);
    return;
  }
  if (principal instanceof Promise) principal.then(answer, refuse);
  else answer(principal);
}

/** Logins by GET open sessions. */
const mayWrite = ({ method, open }: Endpoint): boolean => method !== 'GET' || open === true;

/** The framework has no address for a connection that is gone. */
const callerOf = (system: System, { envelope, request }: Exchange) =>
  principalFor(system, envelope.credentials, request.ip ?? '');

function apiRequest(
  { edge, endpoint, envelope, request, reply }: Exchange,
  system: System,
  principal: Principal,
  progress: Progress,
): ApiRequest {
  return {
    system,
    principal,
    client: {
      sessionToken: envelope.credentials.sessionToken,
      installationId: envelope.installationId,
      address: () => request.ip ?? '',
      isGone: () => reply.raw.destroyed,
    },
    context: {
      appId: system.appId,
      store: system.store,
      principal,
      hooks: edge.hooks,
      patterns: new PatternBudget(),
      referer: pageOf(principal, request),
      progress,
    },
    params: request.params as Params,
    query: queryOf(endpoint, envelope, request),
    body: envelope.body,
  };
}

/** SPEC "`_Timeline` fields": the page of a session user; keys have none, and what tells of functions is for them alone. */
function pageOf({ kind }: Principal, { headers: { referer } }: FastifyRequest): string | null {
  return kind === 'user' && referer !== undefined && !tellsOfFunction(referer) ? referer : null;
}

function deliver(exchange: Exchange, system: System, principal: Principal, answer: ApiReply): void {
  const { edge, reply } = exchange;
  if (typeof answer.json === 'string') {
    system.release();
    sendReply(edge, reply, answer);
    note(exchange, system, principal);
  } else {
    const json = new FramedPieces('', answer.json, '', () => system.release());
    sendReply(edge, reply, { ...answer, json });
  }
}

/** Writes have short answers, so that theirs are the only ones to be noted. A logout names nobody: it would block the user's deletion. */
function note({ edge, endpoint, envelope, request, reply, started }: Exchange, system: System, caller: Principal | null): void {
  if (!isLogged(endpoint)) return;
  const principal = endpoint.path === '/logout' ? null : caller;
  const { installationId, credentials } = envelope;
  noteRequest(edge, system, request, reply, { method: endpoint.method, principal, installationId, credentials, started });
}

/** CONTRACT "Requests": a query that came as a POST has its parameters in the body. */
function queryOf(endpoint: Endpoint, { method, body }: Envelope, request: FastifyRequest): QueryParameters {
  const ofAddress = request.query as QueryParameters;
  if (endpoint.method !== 'GET' || method === undefined || !isJsonObject(body)) return ofAddress;
  return new Map([...ofAddress, ...Object.entries(body)]);
}
