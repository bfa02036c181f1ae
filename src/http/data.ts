import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail, serviceError } from '../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../kernel/json.ts';
import type { System } from '../systems/index.ts';
import { sendError, sendReply } from './answer.ts';
import type { Edge } from './edge.ts';
import type { ApiReply, Endpoint } from './endpoint.ts';
import { type Envelope, openEnvelope } from './envelope.ts';
import { FramedPieces } from './pieces.ts';
import { prefix } from './prefix.ts';

type Query = ReadonlyMap<string, string | JsonValue>;
type Params = Readonly<Record<string, string>>;

/** Registers the data endpoints below the prefix. */
export function registerDataEndpoints(server: FastifyInstance, edge: Edge, endpoints: readonly Endpoint[]): void {
  for (const [path, ofPath] of Map.groupBy(endpoints, (endpoint) => endpoint.path)) {
    const byMethod = new Map<unknown, Endpoint>(ofPath.map((endpoint) => [endpoint.method, endpoint]));
    // A POST may stand for any of the others, so each path takes one.
    for (const method of new Set([...ofPath.map((endpoint) => endpoint.method), 'POST' as const])) {
      const plain = byMethod.get(method);
      server.route({
        method,
        url: prefix + path,
        handler: (request, reply) => handle(edge, method === 'POST' ? byMethod : undefined, plain, request, reply),
      });
    }
  }
}

/**
 * Answers one request: body, then application id, then caller, then the endpoint.
 * @param overrides the endpoints that a `_method` in the body may choose
 */
function handle(
  edge: Edge,
  overrides: ReadonlyMap<unknown, Endpoint> | undefined,
  plain: Endpoint | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  try {
    const params = request.params as Params;
    for (const name in params) if (params[name] === '') fail('notFound');
    const envelope = openEnvelope(request.headers, request.body as string | undefined);
    const overridden = overrides && envelope.method !== undefined && envelope.method !== null;
    const endpoint = overridden ? overrides.get(checkMethod(envelope.method)) : plain;
    if (!endpoint) return fail('notFound');
    const found = typeof envelope.appId === 'string' ? edge.systems.acquire(envelope.appId) : undefined;
    if (found instanceof Promise) {
      found.then(
        (system) => ask(edge, endpoint, system, envelope, request, reply),
        (error) => sendError(edge, reply, error),
      );
    } else ask(edge, endpoint, found, envelope, request, reply);
  } catch (error) {
    sendError(edge, reply, error);
  }
}

function checkMethod(method: unknown): unknown {
  if (method === 'GET' || method === 'POST' || method === 'PUT' || method === 'DELETE') return method;
  return fail('invalidJson', '_method should be GET, PUT or DELETE');
}

/** Asks the endpoint, and lets go of the system when the answer no longer needs it. */
function ask(
  edge: Edge,
  endpoint: Endpoint,
  system: System | undefined,
  envelope: Envelope,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (!system) return sendError(edge, reply, serviceError('unauthorized'));
  const refuse = (error: unknown) => {
    system.release();
    sendError(edge, reply, error);
  };
  try {
    const principal = system.registration.principalFor(envelope.credentials);
    const { headers } = request;
    const asked = endpoint.handle({
      system,
      principal,
      context: { store: system.store, principal, observers: edge.observers, referer: headers.referer ?? null },
      params: request.params as Params,
      query: queryOf(endpoint, envelope, request),
      body: envelope.body,
    });
    if (asked instanceof Promise) asked.then((answer) => deliver(edge, system, reply, answer)).catch(refuse);
    else deliver(edge, system, reply, asked);
  } catch (error) {
    refuse(error);
  }
}

function deliver(edge: Edge, system: System, reply: FastifyReply, answer: ApiReply): void {
  if (typeof answer.json === 'string') {
    system.release();
    sendReply(edge, reply, answer);
  } else {
    const json = new FramedPieces('', answer.json, '', () => system.release());
    sendReply(edge, reply, { ...answer, json });
  }
}

/** CONTRACT "Requests": a query that came as a POST has its parameters in the body. */
function queryOf(endpoint: Endpoint, { method, body }: Envelope, request: FastifyRequest): Query {
  const ofAddress = request.query as Query;
  if (endpoint.method !== 'GET' || method === undefined || !isJsonObject(body)) return ofAddress;
  return new Map([...ofAddress, ...Object.entries(body)]);
}
