import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MIN_LONG_BODY_LENGTH } from '../../admission/body-share.ts';
import type { Reservation } from '../../admission/reservation.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { prefix } from '../../kernel/prefix.ts';
import type { NamedParameters } from '../../query/index.ts';
import { CallerRequest, type CallerScope, type CallerSteps, executeAsCaller } from '../../requests/index.ts';
import type { Credentials } from '../../systems/index.ts';
import { acceptsGzip, sendError, sendReply } from './answer.ts';
import type { ApiReply, Client, Endpoint } from './endpoint.ts';
import { noPreconditions, type SentPreconditions } from './entity-tag.ts';
import { FramedPieces } from './framed-pieces.ts';
import { answerOnce } from './keyed.ts';
import { logAndReject } from './log-rejected.ts';
import { LongBodies } from './long-bodies.ts';
import { type Envelope, envelopeOf, parseEnvelope } from './parse-request.ts';
import type { HttpServices } from './services.ts';

type Params = Readonly<Record<string, string>>;

/** A request being answered by an endpoint. */
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
export function registerDataEndpoints(
  server: FastifyInstance,
  services: HttpServices,
  endpoints: readonly Endpoint[],
  long = new LongBodies(services),
): void {
  for (const [path, ofPath] of Map.groupBy(endpoints, (endpoint) => endpoint.path)) {
    const byMethod = new Map<unknown, Endpoint>(ofPath.map((endpoint) => [endpoint.method, endpoint]));
    // A POST with `_method` may stand for any method, so each path accepts POST.
    const methods = new Set([...byMethod.keys(), 'POST']) as Set<Endpoint['method']>;
    if (ofPath.some((endpoint) => endpoint.hasOwnPostRoute)) methods.delete('POST');
    const bodyLimit = Math.max(...ofPath.map(({ maxBodyBytes = limits.bodyBytes }) => maxBodyBytes));
    for (const method of methods) {
      const choose = method === 'POST' ? chooserOf(byMethod) : always(byMethod.get(method));
      const url = prefix + path;
      server.route({ method, url, bodyLimit, handler: (request, reply) => handle({ services, choose, long }, request, reply) });
    }
  }
}

/** How requests to a path are dispatched. */
interface Routed {
  readonly services: HttpServices;
  readonly choose: Choose;
  readonly long: LongBodies;
}

/** Selects the endpoint for a request's `_method`; `undefined` if the path has none. */
type Choose = (method: unknown) => Endpoint | undefined;

const always =
  (endpoint: Endpoint | undefined): Choose =>
  () =>
    endpoint;

/** POST may carry `_method` GET, PUT or DELETE. Reference: requests.md#methods. */
function chooserOf(byMethod: ReadonlyMap<unknown, Endpoint>): Choose {
  return (method) => {
    if (method === undefined || method === null) return byMethod.get('POST');
    if (method === 'GET' || method === 'POST' || method === 'PUT' || method === 'DELETE') return byMethod.get(method);
    return fail('invalidJson', '_method should be GET, PUT or DELETE');
  };
}

/** Handles one request: body, application id, caller, endpoint, in this order. */
function handle(routed: Routed, request: FastifyRequest, reply: FastifyReply): void {
  const started = performance.now();
  try {
    const params = request.params as Params;
    for (const name in params) if (params[name] === '') fail('notFound');
    const { headers, body } = request as { headers: FastifyRequest['headers']; body: string | undefined };
    // Release the text: the request object stays referenced until the answer was taken.
    request.body = undefined;
    if (body === undefined || body.length < MIN_LONG_BODY_LENGTH)
      answerByMethod(routed, parseEnvelope(headers, body), request, reply, started);
    else
      routed.long
        .read(request, reply, body)
        .then((value) => answerByMethod(routed, envelopeOf(headers, value), request, reply, started))
        .catch((error) => reject(routed, request, reply, error));
  } catch (error) {
    reject(routed, request, reply, error);
  }
}

/** Dispatches to the endpoint that `_method` selects. */
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

/** Rejects a request before it reached an endpoint. */
function reject({ services }: Routed, request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  logAndReject(services, request, reply, () => sendError(services, reply, error));
}

/** Executes an endpoint for a request whose body was read. */
export function answerEndpoint(exchange: Exchange): Promise<void> {
  const steps = new EndpointSteps(exchange);
  return executeAsCaller(steps.callerRequest, steps);
}

/** The steps of a request to an endpoint. */
class EndpointSteps implements CallerSteps<ApiReply> {
  readonly callerRequest: CallerRequest;
  readonly appId: unknown;
  readonly credentials: Credentials;
  readonly installationId: string | null;
  readonly isOpen: boolean;
  readonly mayWrite: boolean;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    const { services, envelope, endpoint, request, started } = exchange;
    this.callerRequest = new CallerRequest(services, request, started);
    this.appId = envelope.appId;
    this.credentials = envelope.credentials;
    this.installationId = envelope.installationId;
    this.isOpen = endpoint.open === true;
    // A login by GET creates a session.
    this.mayWrite = endpoint.method !== 'GET' || this.isOpen;
    this.#exchange = exchange;
  }

  run({ system, principal, context }: CallerScope): Promise<ApiReply> {
    const { endpoint, envelope, request, reply } = this.#exchange;
    const asked = {
      system,
      principal,
      context,
      client: new RequestClient(envelope, this.callerRequest, reply),
      params: request.params as Params,
      query: queryOf(endpoint, envelope, request),
      preconditions: preconditionsOf(request),
      body: envelope.body,
    };
    if (!endpoint.keyed) return endpoint.handle(asked);
    const { headers, url } = request;
    return answerOnce(endpoint, asked, { headers, url, credentials: envelope.credentials });
  }

  send(answer: ApiReply): Promise<void> {
    const { services, reply, request } = this.#exchange;
    const { json, gzip } = answer;
    if (typeof json !== 'string' && !(gzip && acceptsGzip(request))) return sendStreamed(services, reply, answer, json);
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
    // A logout is logged without its user: the reference would block the deletion of the user.
    this.callerRequest.log({
      method,
      url: request.url,
      statusCode: reply.statusCode,
      ...(path === '/logout' && { principal: null }),
    });
  }
}

const sent = Promise.resolve();

class RequestClient implements Client {
  readonly sessionToken: unknown;
  readonly installationId: string | null;
  readonly #callerRequest: CallerRequest;
  readonly #reply: FastifyReply;

  constructor({ credentials, installationId }: Envelope, callerRequest: CallerRequest, reply: FastifyReply) {
    this.sessionToken = credentials.sessionToken;
    this.installationId = installationId;
    this.#callerRequest = callerRequest;
    this.#reply = reply;
  }

  get address(): string {
    return this.#callerRequest.address;
  }

  isGone(): boolean {
    return this.#reply.raw.destroyed;
  }

  goneSignal(): AbortSignal {
    const controller = new AbortController();
    if (this.isGone()) controller.abort();
    else this.#reply.raw.once('close', () => controller.abort());
    return controller.signal;
  }

  shouldStop(): boolean {
    return this.isGone() || !this.#reply.server.server.listening;
  }

  keepConnection(): void {
    // Node limits the time again once the answer is sent.
    this.#reply.raw.socket?.setTimeout(0);
  }

  releaseWhenAnswered(reservation: Reservation): void {
    reservation.releaseWhenAnswered(this.#reply.raw);
  }
}

/** Whether requests to an endpoint are logged: writes only. Reference: audit.md#request-log. */
const isLogged = ({ method }: Endpoint): boolean => method !== 'GET';

/** Sends a streamed answer. Resolves when the last piece was produced or the client has disconnected; until then the system is held. */
function sendStreamed(
  services: HttpServices,
  reply: FastifyReply,
  { gzip: _, ...answer }: ApiReply,
  pieces: AsyncIterable<string>,
): Promise<void> {
  return new Promise<void>((ended) => {
    sendReply(services, reply, { ...answer, json: new FramedPieces('', pieces, '', ended) });
  });
}

function preconditionsOf({ headers }: FastifyRequest): SentPreconditions {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  return ifMatch === undefined && ifNoneMatch === undefined ? noPreconditions : { ifMatch, ifNoneMatch };
}

/** A GET sent as a POST has its parameters in the body. Reference: requests.md#methods. */
function queryOf(endpoint: Endpoint, { method, body }: Envelope, request: FastifyRequest): NamedParameters {
  const ofAddress = request.query as NamedParameters;
  if (endpoint.method !== 'GET' || method === undefined || !isJsonObject(body)) return ofAddress;
  return new Map([...ofAddress, ...Object.entries(body)]);
}
