import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Place } from '../../admission/place.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { prefix } from '../../kernel/prefix.ts';
import type { NamedParameters } from '../../query/index.ts';
import { CallerRequest, type CallerScope, type CallerSteps, carryOutAsCaller } from '../../requests/index.ts';
import type { Credentials } from '../../systems/index.ts';
import { FramedPieces, sendError, sendReply } from './answer.ts';
import type { ApiReply, Client, Endpoint } from './endpoint.ts';
import { refuseUnasked } from './log-rejected.ts';
import { LONG_BODY_LENGTH, LongBodies } from './long-bodies.ts';
import { type Envelope, envelopeOf, openEnvelope } from './parse-request.ts';
import type { HttpServices } from './services.ts';

type Params = Readonly<Record<string, string>>;

/** One request on its way to its answer. */
export interface Exchange {
  readonly services: HttpServices;
  readonly endpoint: Endpoint;
  readonly envelope: Envelope;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** By `performance.now()`. */
  readonly started: number;
}

/** Registers the data endpoints below the prefix. */
export function registerDataEndpoints(server: FastifyInstance, services: HttpServices, endpoints: readonly Endpoint[]): void {
  const long = new LongBodies(services);
  for (const [path, ofPath] of Map.groupBy(endpoints, (endpoint) => endpoint.path)) {
    const byMethod = new Map<unknown, Endpoint>(ofPath.map((endpoint) => [endpoint.method, endpoint]));
    // A POST may stand for any of the others, so each path takes one.
    const methods = new Set([...byMethod.keys(), 'POST']) as Set<Endpoint['method']>;
    if (ofPath.some((endpoint) => endpoint.isPostElsewhere)) methods.delete('POST');
    const bodyLimit = Math.max(...ofPath.map(({ bodyBytes = limits.bodyBytes }) => bodyBytes));
    for (const method of methods) {
      const choose = method === 'POST' ? chooserOf(byMethod) : fixed(byMethod.get(method));
      const url = prefix + path;
      server.route({ method, url, bodyLimit, handler: (request, reply) => handle({ services, choose, long }, request, reply) });
    }
  }
}

/** What a path is answered with. */
interface Routed {
  readonly services: HttpServices;
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
function handle(routed: Routed, request: FastifyRequest, reply: FastifyReply): void {
  const started = performance.now();
  try {
    const params = request.params as Params;
    for (const name in params) if (params[name] === '') fail('notFound');
    const { headers, body } = request as { headers: FastifyRequest['headers']; body: string | undefined };
    // Its place is free when the answer is made; the request is there until that is taken.
    request.body = undefined;
    if (body === undefined || body.length < LONG_BODY_LENGTH)
      answerByMethod(routed, openEnvelope(headers, body), request, reply, started);
    else
      routed.long
        .read(request, reply, body)
        .then((value) => answerByMethod(routed, envelopeOf(headers, value), request, reply, started))
        .catch((error) => refuse(routed, request, reply, error));
  } catch (error) {
    refuse(routed, request, reply, error);
  }
}

/** Has the endpoint answer that the request's `_method` asks for. */
function answerByMethod(
  { services, choose }: Routed,
  envelope: Envelope,
  request: FastifyRequest,
  reply: FastifyReply,
  started: number,
): void {
  const endpoint = choose(envelope.method) ?? fail('notFound');
  void answerEndpoint({ services, endpoint, envelope, request, reply, started });
}

/** Answers a request that no endpoint was asked for. */
function refuse({ services }: Routed, request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  refuseUnasked(services, request, reply, () => sendError(services, reply, error));
}

/** Has an endpoint answer a request whose body was read. */
export function answerEndpoint(exchange: Exchange): Promise<void> {
  const steps = new EndpointSteps(exchange);
  return carryOutAsCaller(steps.asked, steps);
}

/** What a request to an endpoint is carried out by. */
class EndpointSteps implements CallerSteps<ApiReply> {
  readonly asked: CallerRequest;
  readonly appId: unknown;
  readonly credentials: Credentials;
  readonly installationId: string | null;
  readonly isOpen: boolean;
  readonly mayWrite: boolean;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    const { services, envelope, endpoint, request, started } = exchange;
    this.asked = new CallerRequest(services, request, started);
    this.appId = envelope.appId;
    this.credentials = envelope.credentials;
    this.installationId = envelope.installationId;
    this.isOpen = endpoint.open === true;
    // A login by GET opens a session.
    this.mayWrite = endpoint.method !== 'GET' || this.isOpen;
    this.#exchange = exchange;
  }

  run({ system, principal, context }: CallerScope): Promise<ApiReply> {
    const { endpoint, envelope, request, reply } = this.#exchange;
    return endpoint.handle({
      system,
      principal,
      context,
      client: new EndpointClient(envelope, this.asked, reply),
      params: request.params as Params,
      query: queryOf(endpoint, envelope, request),
      body: envelope.body,
    });
  }

  send(answer: ApiReply): Promise<void> {
    const { services, reply } = this.#exchange;
    if (typeof answer.json !== 'string') return deliver(services, reply, answer, answer.json);
    sendReply(services, reply, answer);
    return sent;
  }

  refuse(error: unknown): void {
    const { services, reply } = this.#exchange;
    sendError(services, reply, error);
  }

  log(): void {
    const { endpoint, request, reply } = this.#exchange;
    if (!isLogged(endpoint)) return;
    const { method, path } = endpoint;
    // A logout names nobody: the row would block the deletion of the user.
    this.asked.log({ method, url: request.url, statusCode: reply.statusCode, ...(path === '/logout' && { principal: null }) });
  }
}

const sent = Promise.resolve();

/** The client of a request. */
class EndpointClient implements Client {
  readonly sessionToken: unknown;
  readonly installationId: string | null;
  readonly #asked: CallerRequest;
  readonly #reply: FastifyReply;

  constructor({ credentials, installationId }: Envelope, asked: CallerRequest, reply: FastifyReply) {
    this.sessionToken = credentials.sessionToken;
    this.installationId = installationId;
    this.#asked = asked;
    this.#reply = reply;
  }

  get address(): string {
    return this.#asked.address;
  }

  isGone(): boolean {
    return this.#reply.raw.destroyed;
  }

  gone(): AbortSignal {
    const controller = new AbortController();
    if (this.isGone()) controller.abort();
    else this.#reply.raw.once('close', () => controller.abort());
    return controller.signal;
  }

  freeWhenAnswered(place: Place): void {
    place.freeWhenAnswered(this.#reply.raw);
  }
}

/** Whether requests to an endpoint are logged (SPEC "Other system tables": writes only). */
const isLogged = ({ method }: Endpoint): boolean => method !== 'GET';

/** Sends a long answer, which holds the system until its last piece was made or the client has gone. */
function deliver(services: HttpServices, reply: FastifyReply, answer: ApiReply, pieces: AsyncIterable<string>): Promise<void> {
  return new Promise<void>((ended) => {
    sendReply(services, reply, { ...answer, json: new FramedPieces('', pieces, '', ended) });
  });
}

/** CONTRACT "Requests": a query that came as a POST has its parameters in the body. */
function queryOf(endpoint: Endpoint, { method, body }: Envelope, request: FastifyRequest): NamedParameters {
  const ofAddress = request.query as NamedParameters;
  if (endpoint.method !== 'GET' || method === undefined || !isJsonObject(body)) return ofAddress;
  return new Map([...ofAddress, ...Object.entries(body)]);
}
