import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../../errors/fail.ts';
import { isJsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { prefix } from '../../kernel/prefix.ts';
import type { NamedParameters } from '../../query/index.ts';
import { CallerRequest, carryOutAsCaller } from '../../requests/index.ts';
import { FramedPieces, sendError, sendReply } from './answer.ts';
import type { ApiReply, Endpoint } from './endpoint.ts';
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
function handle({ services, choose, long }: Routed, request: FastifyRequest, reply: FastifyReply): void {
  const started = performance.now();
  const refuse = (error: unknown) => refuseUnasked(services, request, reply, () => sendError(services, reply, error));
  const answer = (envelope: Envelope) => {
    const endpoint = choose(envelope.method) ?? fail('notFound');
    void answerEndpoint({ services, endpoint, envelope, request, reply, started });
  };
  try {
    const params = request.params as Params;
    for (const name in params) if (params[name] === '') fail('notFound');
    const { headers, body } = request as { headers: FastifyRequest['headers']; body: string | undefined };
    // Its place is free when the answer is made; the request is there until that is taken.
    request.body = undefined;
    if (body === undefined || body.length < LONG_BODY_LENGTH) answer(openEnvelope(headers, body));
    else
      long
        .read(request, reply, body)
        .then((value) => answer(envelopeOf(headers, value)))
        .catch(refuse);
  } catch (error) {
    refuse(error);
  }
}

/** Has an endpoint answer a request whose body was read. */
export async function answerEndpoint({ services, endpoint, envelope, request, reply, started }: Exchange): Promise<void> {
  const { appId, credentials, installationId } = envelope;
  const isOpen = endpoint.open === true;
  const asked = new CallerRequest(services, request, started);
  await carryOutAsCaller(asked, {
    appId,
    credentials,
    installationId,
    isOpen,
    // A login by GET opens a session.
    mayWrite: endpoint.method !== 'GET' || isOpen,
    async run({ system, principal, context }) {
      const answer = await endpoint.handle({
        system,
        principal,
        context,
        client: {
          sessionToken: credentials.sessionToken,
          installationId,
          address: () => asked.address,
          isGone: () => reply.raw.destroyed,
        },
        params: request.params as Params,
        query: queryOf(endpoint, envelope, request),
        body: envelope.body,
      });
      if (typeof answer.json === 'string') sendReply(services, reply, answer);
      else await deliver(services, reply, answer, answer.json);
    },
    refuse: (error) => sendError(services, reply, error),
    log() {
      if (!isLogged(endpoint)) return;
      const { method, path } = endpoint;
      const { statusCode } = reply;
      // A logout names nobody: the row would block the deletion of the user.
      asked.log({ method, url: request.url, statusCode, ...(path === '/logout' && { principal: null }) });
    },
  });
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
