import type { IncomingHttpHeaders } from 'node:http';
import {
  type CallToolResult,
  classifyInboundRequest,
  createMcpHandler,
  isJSONRPCRequest,
  isJsonContentType,
  isLegacyRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type JsonSchemaType,
  type jsonSchemaValidator,
  Server,
  type ServerOptions,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { isJsonObject, type JsonValue } from '../kernel/json.ts';
import { HOUR_MS } from '../kernel/time.ts';
import { serviceVersion } from '../kernel/version.ts';
import type { Logger } from '../observe/index.ts';
import type { ToolSet } from './dispatch-tool.ts';

const identity = { name: 'record-data-service', title: 'Record Data Service', version: serviceVersion() } as const;

const instructions =
  'A CRM: records in tables. Call Get-Schema with tablesNameOnly, then with one className, before the first read or write of a table. ' +
  'Pointer fields store {"__type":"Pointer","className","objectId"}; Get-Lookup-Values has the ids of statuses and the like.';

/** The list changes with the service's version alone. */
const LIST_TTL_MS = HOUR_MS;

/** Nothing is ever asked of the client, so nothing of his has to be checked; making the usual validator takes longer than a call. */
const noValidator: jsonSchemaValidator = {
  getValidator(_schema: JsonSchemaType): never {
    throw new Error('no validator');
  },
};

const options: ServerOptions = {
  capabilities: { tools: {} },
  instructions,
  jsonSchemaValidator: noValidator,
  cacheHints: {
    'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'public' },
    'server/discover': { ttlMs: LIST_TTL_MS, cacheScope: 'public' },
  },
};

/** The Model Context Protocol over HTTP, without sessions: what a request asks is answered by what it brings. */
export class McpProtocol {
  readonly #exchanges = new WeakMap<Request, Exchange>();
  readonly #modern: ReturnType<typeof createMcpHandler>;

  constructor(log: Logger) {
    const factory = ({ requestInfo }: { requestInfo?: Request }) =>
      serverOf(this.#exchanges.get(requestInfo as Request) as Exchange);
    this.#modern = createMcpHandler(factory, {
      legacy: 'reject',
      onerror: (error) => log.debug({ err: error }, 'a request for agent tools was refused'),
    });
  }

  /** Answers a request: revision 2026-07-28, or one of 2024-11-05 to 2025-11-25, as the request says. @returns a text is JSON, with 200 */
  async answer(exchange: Exchange): Promise<Response | string> {
    const { headers } = exchange;
    // Plain JSON whatever is accepted, unless that is a stream alone: curl and the like understand nothing else.
    const isStream = wantsStream(headers.accept);
    const direct = isStream ? null : directRequest(exchange);
    if (direct) return answerDirectly(serverOf(exchange), direct);
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: protocolHeaders(headers) });
    const parsedBody: unknown = exchange.body;
    if (await isLegacyRequest(request, parsedBody)) {
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !isStream });
      await serverOf(exchange).connect(transport);
      return transport.handleRequest(request, { parsedBody });
    }
    this.#exchanges.set(request, exchange);
    return this.#modern.fetch(request, { parsedBody });
  }
}

function serverOf({ tools, call }: Exchange): Server {
  const server = new Server(identity, options);
  server.setRequestHandler('tools/list', () => tools.list);
  server.setRequestHandler('tools/call', ({ params }) => call(params.name, params.arguments));
  return server;
}

/** What the protocol itself looks at; credentials are none of its business. */
function protocolHeaders(headers: IncomingHttpHeaders): Headers {
  const kept = new Headers({
    accept: 'application/json, text/event-stream',
    'content-type': headers['content-type'] ?? 'application/json',
  });
  for (const name in headers) if (name.startsWith('mcp-')) kept.set(name, String(headers[name]));
  return kept;
}

function wantsStream(accept: string | undefined): boolean {
  return accept !== undefined && /text\/event-stream/i.test(accept) && !/\*\/\*|application\/(?:json|\*)/i.test(accept);
}

const versions: ReadonlySet<string> = new Set(SUPPORTED_PROTOCOL_VERSIONS);
const methods: ReadonlySet<string> = new Set(['tools/call', 'tools/list']);

/**
 * The request of an exchange that needs nothing of its HTTP: one call of a tool, or the list of them, by a revision up to 2025-11-25. Such
 * are nearly all, and the objects of HTTP that the library works with cost as much as a short call itself.
 * @returns `null` for everything else, also for what is to be refused
 */
export function directRequest({ headers, body }: Exchange): JSONRPCRequest | null {
  const method = isJsonObject(body) ? body.method : undefined;
  if (typeof method !== 'string' || !methods.has(method) || !isJsonContentType(headers['content-type'])) return null;
  const version = headers['mcp-protocol-version'];
  if (version !== undefined && (typeof version !== 'string' || !versions.has(version))) return null;
  // Headers of the newest revision have to be compared with the body.
  if (headers['mcp-method'] !== undefined || headers['mcp-name'] !== undefined) return null;
  const inbound = { httpMethod: 'POST', ...(version !== undefined && { protocolVersionHeader: version }), body };
  return isJSONRPCRequest(body) && classifyInboundRequest(inbound).kind === 'legacy' ? body : null;
}

/** Has a server answer one request. @returns JSON text of the answer */
export async function answerDirectly(server: Server, request: JSONRPCRequest): Promise<string> {
  const line = new Line();
  await server.connect(line);
  line.onmessage?.(request);
  return JSON.stringify(await line.answered);
}

/** Takes the one message that a server sends. */
class Line implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly answered: Promise<JSONRPCMessage>;
  #answer: (message: JSONRPCMessage) => void = () => {};

  constructor() {
    this.answered = new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    this.#answer(message);
  }
}

/** One HTTP request for the agent tools, its body read and let in by the gate. */
export interface Exchange {
  readonly headers: IncomingHttpHeaders;
  /** One message or a batch. */
  readonly body: JsonValue;
  /** The tools that this connection sees. */
  readonly tools: ToolSet;
  /** Calls a tool. @throws ProtocolError where there is none of that name */
  readonly call: (name: string, args: unknown) => Promise<CallToolResult>;
}
