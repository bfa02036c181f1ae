import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { actorId, mayUse, type Principal } from '../access/index.ts';
import type { Sender } from '../admission/reservation.ts';
import { ServiceError, serviceError } from '../errors/fail.ts';
import { networkOf } from '../kernel/network.ts';
import { faultPlace } from '../observe/index.ts';
import { appIdOf, callerFor } from './caller.ts';
import type { Tool } from './definition/tool.ts';
import type { RequestHandler } from './handle-request.ts';
import type { McpServices } from './services.ts';
import { createBodyPools, readBody } from './transport/body.ts';
import { failureOf, type RpcError, rpcCodes, sendRpcError } from './transport/messages.ts';

/** Without sessions, there is nothing to stream to a GET, and nothing for a DELETE to end. */
const postOnly: RpcError = { status: 405, code: rpcCodes.refused, message: 'Method not allowed.', headers: { allow: 'POST' } };

/** Delay before the tools are preloaded: loading a module blocks the event loop, and many a process ends before it needs them. */
const WARM_UP_DELAY_MS = 5_000;

/** The response of a request whose body is being read. A property, because a WeakMap keyed by requests is too slow (adr/0023). */
const answer = Symbol('answer');
type Answered = FastifyRequest & { [answer]: ServerResponse | null };

/** The HTTP endpoints of the agent tools: the Model Context Protocol at `/mcp` and `/mcp/{app_id}`. Reference: agents.md#addresses-of-agents. */
export class AgentTools {
  readonly #services: McpServices;
  readonly #tools: readonly Tool[] | undefined;
  #handler: Promise<RequestHandler> | undefined;
  /** `#handler` once it is loaded: most requests do not wait for it. */
  #loaded: RequestHandler | undefined;
  readonly #bodyPools = createBodyPools();
  /** The last accepted `Host` header, a fast path: nearly all clients use the same name. Set only when the service's own name is known. */
  #acceptedHost: string | null = null;

  /** @param tools all tools of the service if omitted; tests pass their own */
  constructor(services: McpServices, tools?: readonly Tool[]) {
    this.#services = services;
    this.#tools = tools;
  }

  /** Preloads the tools. Call it when the service listens. */
  warmUp(): void {
    const failed = (error: unknown) => this.#services.log.error({ err: error }, 'the agent tools were not loaded');
    setTimeout(() => this.#open().catch(failed), WARM_UP_DELAY_MS).unref();
  }

  /** Loads the handler on first use: at startup, loading hundreds of modules would double the time. */
  #open(): Promise<RequestHandler> {
    this.#handler ??= import('./handle-request.ts').then(async ({ openHandler }) => {
      this.#loaded = await openHandler(this.#services, this.#tools);
      return this.#loaded;
    });
    return this.#handler;
  }

  /** Registers the routes. */
  register(server: FastifyInstance): void {
    server.register((scope, _options, done) => {
      scope.decorateRequest(answer, null);
      scope.removeAllContentTypeParsers();
      // The framework remembers a parser only for types that it was given by name.
      scope.addContentTypeParser(['application/json', '*'], (request: FastifyRequest, payload: IncomingMessage) =>
        this.#read(request, payload),
      );
      scope.addHook('onRequest', (request, reply, next) => {
        (request as Answered)[answer] = reply.raw;
        const refusal = this.#refusalOfHost(request);
        if (refusal) sendRpcError(reply, refusal);
        else next();
      });
      scope.setErrorHandler((error, request, reply) => this.#fail(error, request, reply));
      for (const url of ['/mcp', '/mcp/:appId']) {
        scope.route({
          method: 'POST',
          url,
          handler: (request, reply) => {
            const answered = this.#loaded?.(request, reply) ?? this.#open().then((answer) => answer(request, reply));
            answered.catch((error: unknown) => this.#fail(error, request, reply));
          },
        });
        scope.route({ method: ['GET', 'DELETE'], url, handler: (_request, reply) => sendRpcError(reply, postOnly) });
      }
      done();
    });
  }

  #refusalOfHost({ host }: FastifyRequest): RpcError | null {
    if (host === this.#acceptedHost) return null;
    const { addresses, host: listening } = this.#services;
    // Without BASE_URL, this is `null` until the service listens; then it never changes.
    const own = hostName(addresses.base);
    if (isOwnHost(host, own === null ? [listening] : [listening, own])) {
      if (own !== null) this.#acceptedHost = host;
      return null;
    }
    return { status: 403, code: rpcCodes.refused, message: 'Invalid Host. BASE_URL says by which name the service goes.' };
  }

  #read(request: FastifyRequest, payload: IncomingMessage): Promise<string> {
    return readBody({
      payload,
      response: (request as Answered)[answer] as ServerResponse,
      pools: this.#bodyPools,
      sender: () => this.#sender(request),
      longSender: () => this.#longSender(request),
    });
  }

  /** Returns to whom a body is attributed before its caller is authenticated. */
  #sender(request: FastifyRequest): Sender {
    const appId = appIdOf(request);
    const isNamed = appId !== undefined && this.#services.systems.isKnown(appId);
    return { system: isNamed ? appId : '', caller: networkOf(request.ip ?? '') };
  }

  /** Returns to whom a long body is attributed; `null` if its sender may not write, hence not send one. */
  async #longSender(request: FastifyRequest): Promise<Sender | null> {
    const { systems, bearer } = this.#services;
    const appId = appIdOf(request);
    const system = appId === undefined ? undefined : await systems.acquire(appId);
    if (!system) return null;
    try {
      const caller = await callerFor(system, request, bearer);
      if (caller.kind !== 'known' || !mayWrite(caller.principal)) return null;
      return { system: system.appId, caller: nameOf(system.appId, caller.principal) };
    } finally {
      system.release();
    }
  }

  #fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const known = translate(error);
    // A client that disconnects in its body gets no answer, and it is no fault.
    const hasLeft = request.raw.destroyed && !request.raw.complete;
    if (!(known instanceof ServiceError) && !hasLeft)
      this.#services.conditions.met('a request for agent tools failed', faultPlace(error), error);
    if (!reply.sent) sendRpcError(reply, failureOf(known));
  }
}

/** Whether a caller may use tools that write records; no other tools take long arguments. */
function mayWrite(principal: Principal): boolean {
  return mayUse(principal, 'mcp:create') || mayUse(principal, 'mcp:update');
}

/** Returns a string that identifies a key or user of a system. */
function nameOf(appId: string, principal: Principal): string {
  return JSON.stringify([appId, principal.kind, principal.kind === 'apiKey' ? principal.name : actorId(principal)]);
}

/** Returns the catalogue entry for an error of the framework; other errors are returned unchanged. */
function translate(error: unknown): unknown {
  const { statusCode } = error as { readonly statusCode?: unknown };
  const isFramework = !(error instanceof ServiceError) && typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return isFramework ? serviceError('badRequest') : error;
}

/**
 * Whether a request names this host (protection against DNS rebinding). A page of another site can make its own host name resolve to a service on the
 * visitor's machine, but cannot make the browser send an IP address or a name of the service.
 * @param host the `Host` header; `undefined` if missing, which no browser omits
 * @param names host names of the service
 */
function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined || host === '') return true;
  const name = hostName(`http://${host}`);
  if (name === null) return false;
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0 || names.includes(name);
}

/** Returns the lower-case host name of a URL; `null` if it is invalid. */
function hostName(address: string): string | null {
  return URL.parse(address)?.hostname ?? null;
}
