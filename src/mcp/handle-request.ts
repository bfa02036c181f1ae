import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../errors/fail.ts';
import type { JsonValue } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { CallerRequest, executeOnSystem } from '../requests/index.ts';
import type { System } from '../systems/index.ts';
import { parseRequestJson } from '../values/index.ts';
import {
  appIdOf,
  type Caller,
  callerFor,
  callsTools,
  credentialMissing,
  credentialsOf,
  hasCredential,
  tokenEnded,
  unauthorized,
} from './caller.ts';
import type { Tool } from './definition/tool.ts';
import { callTool, ToolRegistry, type ToolSet } from './dispatch-tool.ts';
import { McpProtocol } from './protocol.ts';
import type { McpServices } from './services.ts';
import { loadTools } from './tools/index.ts';
import {
  idOf,
  knownBatch,
  openBatch,
  type RpcError,
  refusalOfBatch,
  sendResponse,
  sendRpcError,
  toolsCalled,
} from './transport/messages.ts';

/** What requests are answered with. */
export interface McpServer {
  readonly services: McpServices;
  readonly registry: ToolRegistry;
  readonly protocol: McpProtocol;
}

/** A request whose body was read. */
interface Asked {
  readonly server: McpServer;
  readonly caller: CallerRequest;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly body: JsonValue;
  readonly tools: ToolSet;
}

/** Levels of nesting around a record in the arguments of a call: the batch, the message, `params`, `arguments`, a list. */
const FRAME_LEVELS = 5;
/** Values of a body: each takes many times the bytes that it came in, and nothing else is answered while they are made. */
const MAX_VALUES = 1_000_000;

/** Answers one request: body, then application id, then caller, then what it asks. Throws what `failureOf` makes an answer of. */
export async function handleRequest(server: McpServer, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const startedAt = performance.now();
  const body = parseRequestJson(bodyOf(request), limits.jsonDepth + FRAME_LEVELS, MAX_VALUES);
  const tools = server.registry.select((request.query as ReadonlyMap<string, string>).get('toolsets'));
  const appId = appIdOf(request);
  const credentials = credentialsOf(request.headers);
  const caller = new CallerRequest(server.services, request, startedAt);
  const asked: Asked = { server, caller, request, reply, body, tools };
  if (appId === undefined) {
    await answerUnnamed(asked);
    return;
  }
  caller.recordCredentials(credentials);
  await executeOnSystem(caller, {
    appId,
    // A call tells itself what became of its writes.
    mayWrite: false,
    run: (system) => answerFor(asked, system),
    refuse(error) {
      if (caller.system || !(error instanceof ServiceError) || error.key !== 'unauthorized') throw error;
      sendRpcError(reply, unauthorized, idOf(body));
    },
  });
}

/** An empty body is no JSON, like any other that is none. */
const bodyOf = ({ body }: FastifyRequest): string => (typeof body === 'string' ? body : '');

/** Tools belong to a system; what asks for none is answered without one. */
async function answerUnnamed(asked: Asked): Promise<void> {
  const { server, request, reply, body } = asked;
  if (!callsTools(body)) return answerProtocol(asked, null, null);
  const isKnown = hasCredential(credentialsOf(request.headers));
  const refusal = isKnown ? unauthorized : credentialMissing(server.services.addresses.base, undefined);
  sendRpcError(reply, refusal, idOf(body));
}

async function answerFor(asked: Asked, system: System): Promise<void> {
  const { server, request, body } = asked;
  const asksTools = callsTools(body);
  if (!asksTools && !refusalOfBatch(body, openBatch)) return answerProtocol(asked, system, null);
  const { addresses, bearer } = server.services;
  const caller = await callerFor(system, request, bearer);
  if (asksTools && caller.kind === 'none') return refuse(asked, system, credentialMissing(addresses.base, system.appId));
  if (asksTools && caller.kind === 'ended') return refuse(asked, system, tokenEnded(addresses.base, system.appId));
  return answerProtocol(asked, system, caller);
}

/** Refuses calls of tools before any is looked at. */
function refuse({ caller, reply, body, tools }: Asked, system: System, error: RpcError): void {
  sendRpcError(reply, error, idOf(body));
  for (const name of toolsCalled(body)) {
    const tool = typeof name === 'string' ? tools.byName.get(name) : undefined;
    if (!tool || tool.hints.readOnlyHint) continue;
    caller.log({ ...callOf(system, tool), principal: null, statusCode: error.status });
    return;
  }
}

/** Has the protocol answer. @param system `null` where no tool is called @param caller `null` where it was not asked who that is */
async function answerProtocol(asked: Asked, system: System | null, caller: Caller | null): Promise<void> {
  const { server, request, reply, body, tools } = asked;
  const principal = caller?.kind === 'known' ? caller.principal : null;
  const tooMuch = refusalOfBatch(body, principal ? knownBatch : openBatch);
  if (tooMuch) return sendRpcError(reply, tooMuch);
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const response = await server.protocol.answer({
    headers: request.headers,
    body,
    tools,
    async call(name, args) {
      if (!system) throw new Error('a tool was called without a system');
      return callTool(
        {
          services: server.services,
          caller: asked.caller,
          system,
          principal,
          tools,
          gone: gone.signal,
          log: (tool, by, statusCode, startedAt) =>
            asked.caller.log({ ...callOf(system, tool), principal: by, statusCode, startedAt }),
        },
        name,
        args,
      );
    },
  });
  await sendResponse(reply, response);
}

/** What the row of a call says (SPEC "Other system tables"): it is logged as writes over REST are. */
const callOf = ({ appId }: System, { name }: Tool) => ({ method: 'POST', url: `/mcp/${appId}/${name}`, service: 'mcp' }) as const;

/** Answers one request; throws what `failureOf` makes an answer of. */
export type RequestHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Makes what requests are answered with, once. @param tools all that the service has where it is left out */
export async function openHandler(services: McpServices, tools?: readonly Tool[]): Promise<RequestHandler> {
  const registry = new ToolRegistry(tools ?? (await loadTools()));
  const server: McpServer = { services, registry, protocol: new McpProtocol(services.log) };
  return (request, reply) => handleRequest(server, request, reply);
}
