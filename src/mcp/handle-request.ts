import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../errors/fail.ts';
import type { JsonValue } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { CallerRequest, executeOnSystem } from '../requests/index.ts';
import type { System } from '../systems/index.ts';
import { type JsonBounds, parseJson } from '../values/index.ts';
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
import type { Tool, ToolSet } from './definition/tool.ts';
import { callTool, ToolRegistry } from './dispatch-tool.ts';
import { McpProtocol } from './protocol/protocol.ts';
import type { McpServices } from './services.ts';
import { loadTools } from './tools/index.ts';
import {
  anonymousBatchLimits,
  batchLimits,
  idOf,
  type RpcError,
  refusalOfBatch,
  sendJson,
  sendResponse,
  sendRpcError,
  toolsCalled,
} from './transport/messages.ts';

/** Shared objects for answering requests. */
export interface McpServer {
  readonly services: McpServices;
  readonly registry: ToolRegistry;
  readonly protocol: McpProtocol;
}

/** A request whose body was read. */
interface ToolRequest {
  readonly server: McpServer;
  readonly caller: CallerRequest;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly body: JsonValue;
  readonly tools: ToolSet;
}

/** Levels of nesting around a record in the arguments of a call: the batch, the message, `params`, `arguments`, a list. */
const FRAME_LEVELS = 5;
/** Maximum number of JSON values in a body: each takes many times its bytes. */
export const MAX_VALUES = 1_000_000;
const bounds: JsonBounds = { levels: limits.jsonDepth + FRAME_LEVELS, marks: MAX_VALUES, marksApart: MAX_VALUES };

/** Handles one request: body, application id, caller, protocol, in this order. Throws errors for `failureOf`. */
export async function handleRequest(server: McpServer, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const startedAt = performance.now();
  const appId = appIdOf(request);
  const text = bodyOf(request);
  // Release the text: the request object stays referenced until the answer was taken.
  request.body = undefined;
  const body = await parseJson(text, bounds, appId ?? '');
  const tools = server.registry.select((request.query as ReadonlyMap<string, string>).get('toolsets'));
  const credentials = credentialsOf(request.headers);
  const caller = new CallerRequest(server.services, request, startedAt);
  const toolRequest: ToolRequest = { server, caller, request, reply, body, tools };
  if (appId === undefined) {
    await answerUnnamed(toolRequest);
    return;
  }
  caller.recordCredentials(credentials);
  await executeOnSystem(caller, {
    appId,
    // Calls report the outcome of their writes themselves.
    mayWrite: false,
    run: (system) => answerFor(toolRequest, system),
    refuse(error) {
      if (caller.system || !(error instanceof ServiceError) || error.key !== 'unauthorized') throw error;
      sendRpcError(reply, unauthorized, idOf(body));
    },
  });
}

/** An empty body is invalid JSON. */
const bodyOf = ({ body }: FastifyRequest): string => (typeof body === 'string' ? body : '');

/** Answers a request without a system: tools belong to a system, other messages need none. */
async function answerUnnamed(toolRequest: ToolRequest): Promise<void> {
  const { server, request, reply, body } = toolRequest;
  if (!callsTools(body)) return answerProtocol(toolRequest, null, null);
  const isKnown = hasCredential(credentialsOf(request.headers));
  const refusal = isKnown ? unauthorized : credentialMissing(server.services.addresses.base, undefined);
  sendRpcError(reply, refusal, idOf(body));
}

async function answerFor(toolRequest: ToolRequest, system: System): Promise<void> {
  const { server, request, body } = toolRequest;
  const asksTools = callsTools(body);
  if (!asksTools && !refusalOfBatch(body, anonymousBatchLimits)) return answerProtocol(toolRequest, system, null);
  const { addresses, bearer } = server.services;
  const known = callerFor(system, request, bearer);
  // Only a token has to be waited for (adr/0023).
  const caller = known instanceof Promise ? await known : known;
  if (asksTools && caller.kind === 'none') return refuse(toolRequest, system, credentialMissing(addresses.base, system.appId));
  if (asksTools && caller.kind === 'ended') return refuse(toolRequest, system, tokenEnded(addresses.base, system.appId));
  return answerProtocol(toolRequest, system, caller);
}

/** Refuses all tool calls of a body, and logs the first that could have written. */
function refuse({ caller, reply, body, tools }: ToolRequest, system: System, error: RpcError): void {
  sendRpcError(reply, error, idOf(body));
  for (const name of toolsCalled(body)) {
    const tool = typeof name === 'string' ? tools.byName.get(name) : undefined;
    if (!tool || tool.hints.readOnlyHint) continue;
    caller.log({ ...callOf(system, tool), principal: null, statusCode: error.status });
    return;
  }
}

/** Lets the protocol answer. @param system `null` if no tool is called @param caller `null` if it was not authenticated */
async function answerProtocol(toolRequest: ToolRequest, system: System | null, caller: Caller | null): Promise<void> {
  const { server, request, reply, body, tools } = toolRequest;
  const principal = caller?.kind === 'known' ? caller.principal : null;
  const tooMuch = refusalOfBatch(body, principal ? batchLimits : anonymousBatchLimits);
  if (tooMuch) return sendRpcError(reply, tooMuch);
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const response = await server.protocol.answer({
    headers: request.headers,
    body,
    tools,
    call(name, args) {
      if (!system) throw new Error('a tool was called without a system');
      return callTool(
        {
          services: server.services,
          caller: toolRequest.caller,
          system,
          principal,
          tools,
          gone: gone.signal,
          log: (tool, by, statusCode, startedAt) =>
            toolRequest.caller.log({ ...callOf(system, tool), principal: by, statusCode, startedAt }),
        },
        name,
        args,
      );
    },
  });
  if (typeof response === 'string') sendJson(reply, response);
  else await sendResponse(reply, response);
}

/** The log entry of a call, which is logged like a write by REST. Reference: audit.md#request-log. */
const callOf = ({ appId }: System, { name }: Tool) => ({ method: 'POST', url: `/mcp/${appId}/${name}`, service: 'mcp' }) as const;

/** Handles one request; throws errors for `failureOf`. */
export type RequestHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Creates the request handler. @param tools all tools of the service if omitted */
export async function openHandler(services: McpServices, tools?: readonly Tool[]): Promise<RequestHandler> {
  const registry = new ToolRegistry(tools ?? (await loadTools()));
  const server: McpServer = { services, registry, protocol: await McpProtocol.open(services.log) };
  return (request, reply) => handleRequest(server, request, reply);
}
