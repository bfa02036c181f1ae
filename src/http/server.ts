import type { AddressInfo } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import { limits } from '../kernel/limits.ts';
import { requestCame } from '../kernel/request-turn.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { faultPlace } from '../observe/index.ts';
import { BodyTimeouts, MAX_BODY_TIMEOUT_MS } from './connections/body-timeout.ts';
import { Connections, serializePipelined } from './connections/connections.ts';
import { mostConnections } from './connections/descriptors.ts';
import { registerBodyReader } from './endpoint/body-reader.ts';
import { registerDataEndpoints } from './endpoint/endpoint-handler.ts';
import { addressOf, parseQueryString } from './endpoint/parse-request.ts';
import { rateLimitOf } from './endpoint/rate-limit.ts';
import type { HttpServices } from './endpoint/services.ts';
import { registerFiles, type TakeUpload } from './files/index.ts';
import { type FunctionOptions, registerFunctions } from './functions/index.ts';
import { registerCompression } from './plugins/compression.ts';
import { answerBadAddress, answerBadRequest, registerErrors } from './plugins/errors.ts';
import { registerCors, registerRequestId, registerRequestLog, requestId } from './plugins/headers.ts';
import { registerLongAnswers } from './plugins/long-answers.ts';
import { Readiness } from './plugins/readiness.ts';
import { registerResetPage } from './plugins/reset-page.ts';
import { registerHealth, registerHome } from './plugins/service-info.ts';
import { dataEndpoints } from './routes/index.ts';

/** Milliseconds for a client to send a whole request, whatever it asks (`BodyTimeouts` holds most to less), and to send its headers. */
const REQUEST_TIMEOUT_MS = MAX_BODY_TIMEOUT_MS + MINUTE_MS;
const HEADERS_TIMEOUT_MS = 20_000;
/** Milliseconds that a connection may be quiet beside the time that a query may take. */
const QUIET_TIMEOUT_MS = 120_000;
/** Queries travel in the address, and a long list of ids in one should pass. */
const HEADER_BYTES = 64 * 1024;
/** Longer than the usual balancer keeps its idle connections, so that it is the balancer who closes them. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/** What the settings say of the server. */
export interface HttpOptions extends FunctionOptions {
  readonly host: string;
  readonly port: number;
  /** Whose `X-Forwarded-*` headers count. */
  readonly trustProxy: boolean | string[];
  /** Milliseconds that a query may take, during which its connection is quiet. */
  readonly queryTimeout: number;
  /** Requests a minute from one address; 0: no limit. */
  readonly rateLimits: { readonly functions: number; readonly login: number };
}

/** A part of the service beside this one that answers requests: agent tools, sign-in, the console. */
export interface HttpPart {
  /** @param takeUpload takes the files that are sent to it */
  register(server: FastifyInstance, takeUpload: TakeUpload): void | Promise<void>;
}

/** The service's HTTP server. */
export class HttpServer {
  readonly #server: FastifyInstance;
  readonly #services: HttpServices;
  readonly #connections: Connections;
  readonly #bodyTimeouts: BodyTimeouts;
  readonly #options: HttpOptions;
  #draining = false;

  private constructor(server: FastifyInstance, services: HttpServices, options: HttpOptions) {
    this.#services = services;
    this.#server = server;
    this.#connections = new Connections(server.server, mostConnections());
    this.#bodyTimeouts = new BodyTimeouts(server.server, this.#connections);
    this.#options = options;
  }

  /** @param parts what else is served: each registers its own routes */
  static async create(services: HttpServices, options: HttpOptions, parts: readonly HttpPart[] = []): Promise<HttpServer> {
    const server = fastify({
      logger: false,
      genReqId: requestId,
      bodyLimit: limits.bodyBytes,
      trustProxy: options.trustProxy,
      // Who reached us before the end is answered; the connection is closed then.
      return503OnClosing: false,
      connectionTimeout: options.queryTimeout + QUIET_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      http: { headersTimeout: HEADERS_TIMEOUT_MS, maxHeaderSize: HEADER_BYTES, requireHostHeader: false },
      rewriteUrl: ({ url = '/' }) => addressOf(url),
      frameworkErrors: answerBadAddress,
      clientErrorHandler: answerBadRequest,
      routerOptions: {
        // Names too long are the endpoints' to refuse; Node bounds the address itself.
        maxParamLength: HEADER_BYTES,
        querystringParser: parseQueryString as unknown as (text: string) => Record<string, unknown>,
      },
    });
    serializePipelined(server.server);
    // Ignores unknown `Expect` headers. Node would answer them with 417 itself, not in the form of our errors.
    server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response));
    const http = new HttpServer(server, services, options);
    // Before the framework answers.
    server.server.prependListener('request', (_request, response) => {
      requestCame();
      // An answer that its client no longer takes may fail; without a listener that would end the process.
      response.on('error', ignored);
      // Of answers that are not the framework's; the others have a hook.
      if (http.#draining) response.shouldKeepAlive = false;
    });
    // Before the parts, which may have hooks of their own and take over those that are there.
    server.addHook('onSend', (_request, reply, _payload, done) => {
      if (http.#draining) reply.header('connection', 'close');
      done();
    });
    registerRequestId(server);
    await registerCors(server);
    registerLongAnswers(server);
    await registerCompression(server);
    registerBodyReader(server, services);
    registerErrors(server, services);
    registerRequestLog(server, services.log);
    registerHealth(server, () => http.#draining, new Readiness(services.probe));
    registerHome(server, services.addresses);
    registerResetPage(server, services);
    registerDataEndpoints(
      server,
      services,
      dataEndpoints(services, rateLimitOf(options.rateLimits.login), (error) =>
        services.conditions.met('a batch item failed', faultPlace(error), error),
      ),
    );
    const takeUpload = registerFiles(server, services);
    registerFunctions(server, services, options);
    for (const part of parts) await part.register(server, takeUpload);
    return http;
  }

  /** Starts to listen. @returns the address, with the port that was picked where 0 was asked for */
  async listen(): Promise<string> {
    const { host, port } = this.#options;
    await this.#server.listen({ host, port });
    const { conditions } = this.#services;
    // No reason to end: the next connection may be accepted.
    this.#server.server.on('error', (error) => conditions.met('a connection could not be accepted', faultPlace(error), error));
    this.#server.server.on('drop', () => conditions.met('there are too many connections: new ones are closed'));
    const { port: picked } = this.#server.server.address() as AddressInfo;
    return `http://${host.includes(':') ? `[${host}]` : host}:${picked}`;
  }

  /** Says that it is about to end, and keeps no connection any longer than for an answer. */
  drain(): void {
    this.#draining = true;
  }

  /** Takes no more connections and ends when the requests in flight are answered. @param bound milliseconds after which they are cut off */
  async close(bound: number): Promise<void> {
    this.drain();
    await this.#connections.close(bound);
    this.#bodyTimeouts.close();
    await this.#server.close();
  }
}

function ignored(): void {}
