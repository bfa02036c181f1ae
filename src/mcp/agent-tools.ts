import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { actorId, mayUse, type Principal } from '../access/index.ts';
import type { Sender } from '../admission/place.ts';
import { ServiceError, serviceError } from '../errors/fail.ts';
import { networkOf } from '../kernel/network.ts';
import { faultPlace } from '../observe/index.ts';
import { appIdOf, callerFor } from './caller.ts';
import type { Tool } from './definition/tool.ts';
import type { RequestHandler } from './handle-request.ts';
import type { McpServices } from './services.ts';
import { bodyPlaces, readBody } from './transport/body.ts';
import { failureOf, type RpcError, rpcCodes, sendRpcError } from './transport/messages.ts';

/** Without sessions there is nothing to be streamed to a GET, and nothing for a DELETE to end. */
const postOnly: RpcError = { status: 405, code: rpcCodes.refused, message: 'Method not allowed.', headers: { allow: 'POST' } };

/** Milliseconds after the start, in which others are answered first: modules are loaded in steps that nothing interrupts, and many a service is done sooner. */
const WARM_UP_DELAY_MS = 5_000;

/** Where the answer goes to a request whose body is being read; a property, since no WeakMap is kept by requests (adr/0023). */
const answer = Symbol('answer');
type Answered = FastifyRequest & { [answer]: ServerResponse | null };

/** The agent-tool layer (SPEC "Agent-tool layer (MCP)"): tools over the Model Context Protocol, at `/mcp` and `/mcp/{app_id}`. */
export class AgentTools {
  readonly #services: McpServices;
  readonly #tools: readonly Tool[] | undefined;
  #answerer: Promise<RequestHandler> | undefined;
  readonly #places = bodyPlaces();
  /** The host that was let in last, once the service's own name is known: nearly all clients call it by one name. */
  #letIn: string | null = null;

  /** @param tools all that the service has, unless a test has its own */
  constructor(services: McpServices, tools?: readonly Tool[]) {
    this.#services = services;
    this.#tools = tools;
  }

  /** Loads the tools, which takes a moment, before anybody asks for them. To be called when the service listens. */
  warmUp(): void {
    const failed = (error: unknown) => this.#services.log.error({ err: error }, 'the agent tools were not loaded');
    setTimeout(() => this.#open().catch(failed), WARM_UP_DELAY_MS).unref();
  }

  /** A start that waits for hundreds of modules would be twice as long. */
  #open(): Promise<RequestHandler> {
    this.#answerer ??= import('./handle-request.ts').then(({ openHandler }) => openHandler(this.#services, this.#tools));
    return this.#answerer;
  }

  /** Adds the addresses to a server whose answers carry their request's id. */
  register(server: FastifyInstance): void {
    server.register((scope, _options, done) => {
      scope.decorateRequest(answer, null);
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) => this.#read(request, payload));
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
            this.#open()
              .then((answer) => answer(request, reply))
              .catch((error: unknown) => this.#fail(error, request, reply));
          },
        });
        scope.route({ method: ['GET', 'DELETE'], url, handler: (_request, reply) => sendRpcError(reply, postOnly) });
      }
      done();
    });
  }

  #refusalOfHost({ host }: FastifyRequest): RpcError | null {
    if (host === this.#letIn) return null;
    const { addresses, host: listening } = this.#services;
    // Without BASE_URL `null` until the service listens; the same from then on.
    const own = hostName(addresses.base);
    if (isOwnHost(host, own === null ? [listening] : [listening, own])) {
      if (own !== null) this.#letIn = host;
      return null;
    }
    return { status: 403, code: rpcCodes.refused, message: 'Invalid Host. BASE_URL says by which name the service goes.' };
  }

  #read(request: FastifyRequest, payload: IncomingMessage): Promise<string> {
    return readBody({
      payload,
      response: (request as Answered)[answer] as ServerResponse,
      places: this.#places,
      sender: () => this.#sender(request),
      longSender: () => this.#longSender(request),
    });
  }

  /** Whose a body is, as far as it shows before anybody is looked up. */
  #sender(request: FastifyRequest): Sender {
    const appId = appIdOf(request);
    const isNamed = appId !== undefined && this.#services.systems.isKnown(appId);
    return { system: isNamed ? appId : '', caller: networkOf(request.ip ?? '') };
  }

  /** Whose a long body is; `null` where nobody sends it who may write. */
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
    // Who left while his body was read hears nothing, and nothing is wrong.
    const hasLeft = request.raw.destroyed && !request.raw.complete;
    if (!(known instanceof ServiceError) && !hasLeft)
      this.#services.conditions.met('a request for agent tools failed', faultPlace(error), error);
    if (!reply.sent) sendRpcError(reply, failureOf(known));
  }
}

/** Whether a caller may use tools that write records: no others take much. */
function mayWrite(principal: Principal): boolean {
  return mayUse(principal, 'mcp:create') || mayUse(principal, 'mcp:update');
}

/** One text for each key and user of each system. */
function nameOf(appId: string, principal: Principal): string {
  return JSON.stringify([appId, principal.kind, principal.kind === 'apiKey' ? principal.name : actorId(principal)]);
}

/** The catalogue's entry for an error of the framework; anything else as it is. */
function translate(error: unknown): unknown {
  const { statusCode } = error as { readonly statusCode?: unknown };
  const isFramework = !(error instanceof ServiceError) && typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return isFramework ? serviceError('badRequest') : error;
}

/**
 * Whether a request may have come for this service by its name. A page of another site can have its own name lead to a service on the
 * machine of who visits it (DNS rebinding); it cannot have it called by an address, nor by a name of the service's.
 * @param host as the `Host` header has it; `undefined` where there is none, which no browser sends
 * @param names the host names that the service goes by
 */
function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined || host === '') return true;
  const name = hostName(`http://${host}`);
  if (name === null) return false;
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0 || names.includes(name);
}

/** The name in an address, lower-case; `null` where that is none. */
function hostName(address: string): string | null {
  return URL.parse(address)?.hostname ?? null;
}
