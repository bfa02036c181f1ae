import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError, serviceError } from '../errors/fail.ts';
import { answerRequest, appIdOf, type Desk, failureOf } from './answer.ts';
import { Catalogue } from './catalogue.ts';
import { callerFor, credentialsOf } from './modes/caller.ts';
import type { McpParts } from './parts.ts';
import { tools as allTools } from './tools/index.ts';
import type { Tool } from './tools/tool.ts';
import { readBody } from './transport/body.ts';
import { hostName, isOwnHost } from './transport/hosts.ts';
import { type RpcError, rpcCodes } from './transport/messages.ts';
import { McpProtocol } from './transport/protocol.ts';
import { sendRpcError } from './transport/send.ts';

/** Without sessions there is nothing to be streamed to a GET, and nothing for a DELETE to end. */
const postOnly: RpcError = { status: 405, code: rpcCodes.refused, message: 'Method not allowed.', headers: { allow: 'POST' } };

/** The agent-tool layer (SPEC "Agent-tool layer (MCP)"): tools over the Model Context Protocol, at `/mcp` and `/mcp/{app_id}`. */
export class AgentTools {
  readonly #desk: Desk;
  /** Where the answers go to requests whose bodies are being read. */
  readonly #responses = new WeakMap<IncomingMessage, ServerResponse>();

  /** @param tools all that the service has, unless a test has its own */
  constructor(parts: McpParts, tools: readonly Tool[] = allTools) {
    this.#desk = { parts, catalogue: new Catalogue(tools), protocol: new McpProtocol(parts.log) };
  }

  /** Adds the addresses to a server whose answers carry their request's id. */
  register(server: FastifyInstance): void {
    server.register((scope, _options, done) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) => this.#read(request, payload));
      scope.addHook('onRequest', (request, reply, next) => {
        this.#responses.set(request.raw, reply.raw);
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
            answerRequest(this.#desk, request, reply).catch((error: unknown) => this.#fail(error, request, reply));
          },
        });
        scope.route({ method: ['GET', 'DELETE'], url, handler: (_request, reply) => sendRpcError(reply, postOnly) });
      }
      done();
    });
  }

  #refusalOfHost(request: FastifyRequest): RpcError | null {
    const { baseUrl, host } = this.#desk.parts;
    const own = hostName(baseUrl());
    if (isOwnHost(request.host, own === null ? [host] : [host, own])) return null;
    return { status: 403, code: rpcCodes.refused, message: 'Invalid Host. BASE_URL says by which name the service goes.' };
  }

  #read(request: FastifyRequest, payload: IncomingMessage): Promise<string> {
    const response = this.#responses.get(request.raw) as ServerResponse;
    return readBody(payload, response, () => this.#isTrusted(request));
  }

  /** Whether a request comes with a credential that is good: its body may be long. */
  async #isTrusted(request: FastifyRequest): Promise<boolean> {
    const { systems, bearer } = this.#desk.parts;
    const appId = appIdOf(request);
    const system = appId === undefined ? undefined : await systems.acquire(appId);
    if (!system) return false;
    try {
      return (await callerFor(system, credentialsOf(request.headers), bearer)).kind === 'known';
    } finally {
      system.release();
    }
  }

  #fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const known = translate(error);
    // Who left while his body was read hears nothing, and nothing is wrong.
    const hasLeft = request.raw.destroyed && !request.raw.complete;
    if (!(known instanceof ServiceError) && !hasLeft)
      this.#desk.parts.log.error({ err: error, request: request.id }, 'a request for agent tools failed');
    if (!reply.sent) sendRpcError(reply, failureOf(known));
  }
}

/** The catalogue's entry for an error of the framework; anything else as it is. */
function translate(error: unknown): unknown {
  const { statusCode } = error as { readonly statusCode?: unknown };
  const isFramework = !(error instanceof ServiceError) && typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return isFramework ? serviceError('badRequest') : error;
}
