import type { AddressInfo } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import { limits } from '../kernel/limits.ts';
import { requestCame } from '../kernel/request-turn.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { faultPlace } from '../observe/index.ts';
import { BodyTimeouts, MAX_BODY_TIMEOUT_MS } from './connections/body-timeout.ts';
import { Connections, serializePipelined } from './connections/connections.ts';
import { maxConnections } from './connections/descriptors.ts';
import { registerBodyReader } from './endpoint/body-reader.ts';
import { registerDataEndpoints } from './endpoint/endpoint-handler.ts';
import { LongBodies } from './endpoint/long-bodies.ts';
import { normalizeUrl, parseQueryString } from './endpoint/parse-request.ts';
import { rateLimitOf } from './endpoint/rate-limit.ts';
import type { HttpServices } from './endpoint/services.ts';
import { registerFiles, type TakeUpload } from './files/index.ts';
import { type FunctionOptions, registerFunctions } from './functions/index.ts';
import { registerCompression } from './plugins/compression.ts';
import { answerBadAddress, answerBadRequest, registerErrors } from './plugins/errors.ts';
import { registerCors, registerRequestId, requestId } from './plugins/headers.ts';
import { registerLongAnswers } from './plugins/long-answers.ts';
import { type MetricsAccess, registerMetrics } from './plugins/metrics.ts';
import { logRequests, observeBadAddress, observeBadRequest, registerObservedRequests } from './plugins/observe-requests.ts';
import { Readiness } from './plugins/readiness.ts';
import { registerResetPage } from './plugins/reset-page.ts';
import { registerHealth, registerHome } from './plugins/service-info.ts';
import { registerTracedRequests } from './plugins/trace-requests.ts';
import { dataEndpoints } from './routes/index.ts';

/** Time for a client to send a whole request, whatever the route (`BodyTimeouts` sets a shorter limit for most), and to send its headers. */
const REQUEST_TIMEOUT_MS = MAX_BODY_TIMEOUT_MS + MINUTE_MS;
export const HEADERS_TIMEOUT_MS = 20_000;
/** Time that a connection may be idle, in addition to the time limit of a query. */
const QUIET_TIMEOUT_MS = 120_000;
/** Queries travel in the URL: a long list of ids should fit. */
export const HEADER_BYTES = 64 * 1024;
/** Longer than the usual idle timeout of load balancers, so that the balancer closes idle connections, not this server. */
export const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/** Settings of the HTTP server. */
export interface HttpOptions extends FunctionOptions {
  readonly host: string;
  readonly port: number;
  /** The proxies whose `X-Forwarded-*` headers are trusted. */
  readonly trustProxy: boolean | string[];
  /** Time limit of a query in milliseconds; its connection is idle meanwhile. */
  readonly queryTimeout: number;
  /** Requests per minute from one address; 0: no limit. */
  readonly rateLimits: { readonly functions: number; readonly login: number };
  /** If left out, the server has no `/metrics`. */
  readonly scrapes?: MetricsAccess | undefined;
}

/** Another part of the service that serves HTTP: agent tools, sign-in, the console. */
export interface HttpPart {
  /** Registers its routes. @param takeUpload receives files that are uploaded to the part */
  register(server: FastifyInstance, takeUpload: TakeUpload): void | Promise<void>;
}

export class HttpServer {
  readonly #server: FastifyInstance;
  readonly #services: HttpServices;
  readonly #connections: Connections;
  readonly #bodyTimeouts: BodyTimeouts;
  readonly #options: HttpOptions;
  #draining = false;
  #retiring = false;

  private constructor(server: FastifyInstance, services: HttpServices, options: HttpOptions) {
    this.#services = services;
    this.#server = server;
    this.#connections = new Connections(server.server, maxConnections());
    this.#bodyTimeouts = new BodyTimeouts(server.server, this.#connections);
    this.#options = options;
  }

  /** @param parts other parts to serve; each registers its own routes */
  static async create(services: HttpServices, options: HttpOptions, parts: readonly HttpPart[] = []): Promise<HttpServer> {
    const { observations } = services;
    const server = fastify({
      logger: false,
      genReqId: requestId,
      bodyLimit: limits.bodyBytes,
      trustProxy: options.trustProxy,
      // Requests that arrive while the server closes are still answered; then their connection is closed.
      return503OnClosing: false,
      connectionTimeout: options.queryTimeout + QUIET_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      http: { headersTimeout: HEADERS_TIMEOUT_MS, maxHeaderSize: HEADER_BYTES, requireHostHeader: false },
      rewriteUrl: ({ url = '/' }) => normalizeUrl(url),
      frameworkErrors(error, request, reply) {
        observeBadAddress(observations, request, reply);
        answerBadAddress(error, request, reply);
      },
      clientErrorHandler(error, socket) {
        const status = answerBadRequest(error, socket);
        if (status !== null) observeBadRequest(observations, status);
      },
      routerOptions: {
        // The endpoints reject names that are too long; Node limits the length of the URL itself.
        maxParamLength: HEADER_BYTES,
        querystringParser: parseQueryString as unknown as (text: string) => Record<string, unknown>,
      },
    });
    serializePipelined(server.server);
    // Ignores unknown `Expect` headers. Node would answer them with 417 itself, not in the form of our errors.
    server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response));
    const http = new HttpServer(server, services, options);
    // Runs before the framework's listener.
    server.server.prependListener('request', (_request, response) => {
      requestCame();
      // Writing to a client that has left can fail; without a listener the error would end the process.
      response.on('error', ignored);
      // Covers responses written without the framework; the `onSend` hook below covers the others.
      if (http.#isLeaving) response.shouldKeepAlive = false;
    });
    // Registered before the parts, which may add hooks and inherit those that exist.
    server.addHook('onSend', (_request, reply, _payload, done) => {
      if (http.#isLeaving) reply.header('connection', 'close');
      done();
    });
    registerTracedRequests(server);
    logRequests(observations, services.log);
    registerObservedRequests(server, observations);
    registerRequestId(server);
    await registerCors(server);
    registerLongAnswers(server);
    await registerCompression(server);
    registerBodyReader(server, services);
    registerErrors(server, services);
    registerHealth(server, () => http.#draining, new Readiness(services.probe));
    registerHome(server, services.addresses);
    registerMetrics(server, options.scrapes);
    registerResetPage(server, services);
    const long = new LongBodies(services);
    registerDataEndpoints(
      server,
      services,
      dataEndpoints(services, rateLimitOf(options.rateLimits.login), (error) =>
        services.conditions.met('a batch item failed', faultPlace(error), error),
      ),
      long,
    );
    const takeUpload = registerFiles(server, services);
    registerFunctions(server, services, options, long);
    for (const part of parts) await part.register(server, takeUpload);
    return http;
  }

  /** Starts listening. @returns the URL, with the actual port if the setting is 0 */
  async listen(): Promise<string> {
    const { host, port } = this.#options;
    await this.#server.listen({ host, port });
    const { conditions } = this.#services;
    // Not fatal: the next connection may be accepted.
    this.#server.server.on('error', (error) => conditions.met('a connection could not be accepted', faultPlace(error), error));
    this.#server.server.on('drop', () => conditions.met('there are too many connections: new ones are closed'));
    const { port: picked } = this.#server.server.address() as AddressInfo;
    return `http://${host.includes(':') ? `[${host}]` : host}:${picked}`;
  }

  /** Whether each connection is closed after its current answer. */
  get #isLeaving(): boolean {
    return this.#draining || this.#retiring;
  }

  /**
   * Stops accepting connections while other processes go on accepting them on the same address, and resolves when none is left. Each is closed after
   * its next answer, or when it was idle for the usual time: a client never finds a connection closed that it may use. The service stays ready.
   */
  async retire(): Promise<void> {
    this.#retiring = true;
    await this.#connections.retire();
  }

  /** Announces the shutdown: each connection is closed after its current answer. */
  drain(): void {
    this.#draining = true;
  }

  /** Stops accepting connections and resolves when the requests in flight are answered. @param bound milliseconds after which they are aborted */
  async close(bound: number): Promise<void> {
    this.drain();
    await this.#connections.close(bound);
    this.#bodyTimeouts.close();
    await this.#server.close();
  }
}

function ignored(): void {}
