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
  type MessageClassification,
  type MessageExtraInfo,
  PerRequestHTTPServerTransport,
  Server,
  type ServerOptions,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
  type TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/json.ts';
import { HOUR_MS } from '../kernel/time.ts';
import { serviceVersion } from '../kernel/version.ts';
import type { Logger } from '../observe/index.ts';
import type { ToolSet } from './dispatch-tool.ts';

const identity = { name: 'record-data-service', title: 'Record Data Service', version: serviceVersion() } as const;

const instructions =
  'A CRM: records in tables. Call Get-Schema with tablesNameOnly, then with one className, before the first read or write of a table. ' +
  'Pointer fields store {"__type":"Pointer","className","objectId"}; Get-Lookup-Values has the ids of statuses and the like.';

/** The stateless revision: its requests carry what a session held before. */
const NEWEST_REVISION = '2026-07-28';

/** The tool list changes only with a new version of the service. */
const LIST_TTL_MS = HOUR_MS;

/** A validator that is never used, because the server sends no requests to clients. Creating the default one takes longer than a call. */
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

/** For a server that is bound to the newest revision. */
const newestOptions: ServerOptions = { ...options, supportedProtocolVersions: [...SUPPORTED_PROTOCOL_VERSIONS, NEWEST_REVISION] };

/** The Model Context Protocol over HTTP, without sessions. Reference: agents.md#protocol. */
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

  /** Answers a request in the revision that it states: 2026-07-28, or 2024-11-05 to 2025-11-25. @returns a string is JSON with status 200 */
  async answer(exchange: Exchange): Promise<Response | string> {
    const { headers } = exchange;
    // Plain JSON, unless only a stream is accepted: simple clients such as curl understand nothing else.
    const isStream = wantsStream(headers.accept);
    const direct = isStream ? null : directRequest(exchange);
    if (direct) return answerDirectly(serverOf(exchange, direct.classification ? newestOptions : options), direct);
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

/**
 * A server that takes messages already known to be requests. The library first tries each message as a response with zod; V8 creates a hidden class
 * for each failed try, which keeps the message in memory until the next full collection.
 */
class RequestServer extends Server {
  /** Like the transport's `onmessage`, for a request. Calls a private method of the library; `npm test` covers it. */
  takeRequest(message: JSONRPCRequest, extra?: MessageExtraInfo): void {
    // biome-ignore lint/complexity/useLiteralKeys: the compiler refuses a private name after a dot
    this['_onrequest'](message, extra);
  }
}

function serverOf({ tools, call }: Exchange, serverOptions: ServerOptions = options): RequestServer {
  const server = new RequestServer(identity, serverOptions);
  server.setRequestHandler('tools/list', () => tools.list);
  server.setRequestHandler('tools/call', ({ params }) => call(params.name, params.arguments));
  return server;
}

/** Returns the headers that the library examines, without credentials. */
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

const legacyRevisions: ReadonlySet<string> = new Set(SUPPORTED_PROTOCOL_VERSIONS);
const methods: ReadonlySet<string> = new Set(['tools/call', 'tools/list']);

/** A request that is answered without HTTP objects. */
export interface DirectRequest {
  readonly message: JSONRPCRequest;
  /** The library's classification of a request of the newest revision; `undefined` for earlier ones. */
  readonly classification: MessageClassification | undefined;
}

/**
 * Returns the request of an exchange that needs no HTTP features: a single tool call or tool list. Nearly all requests are such, and the library's
 * HTTP objects cost as much as a short call.
 * @returns `null` for everything else, including requests to refuse
 */
export function directRequest({ headers, body, tools }: Exchange): DirectRequest | null {
  if (!isJsonObject(body)) return null;
  const { method } = body;
  if (typeof method !== 'string' || !methods.has(method) || !isJsonContentType(headers['content-type'])) return null;
  const { 'mcp-protocol-version': version, 'mcp-method': methodHeader, 'mcp-name': nameHeader } = headers;
  if (version !== undefined && typeof version !== 'string') return null;
  if (!isJSONRPCRequest(body)) return null;
  const params = isJsonObject(body.params) ? body.params : {};
  if (version === NEWEST_REVISION) {
    const name = method === 'tools/call' ? params.name : undefined;
    // Only headers identical to the body; the library checks all others.
    if (methodHeader !== method || nameHeader !== name || (typeof name === 'string' && !tools.byName.has(name))) return null;
    const classification = isJsonObject(params._meta) ? newestRevision(body, params._meta) : null;
    return classification && { message: body, classification };
  }
  if (version !== undefined && !legacyRevisions.has(version)) return null;
  if (methodHeader !== undefined || nameHeader !== undefined) return null;
  const isOlder = params._meta === undefined || routeOf(body, version).kind === 'legacy';
  return isOlder ? { message: body, classification: undefined } : null;
}

/** Returns how the library routes a request, by its body and version header. */
function routeOf(body: JSONRPCRequest, version: string | undefined): ReturnType<typeof classifyInboundRequest> {
  return classifyInboundRequest({ httpMethod: 'POST', ...(version !== undefined && { protocolVersionHeader: version }), body });
}

/** Maximum length of the client description that is cached. */
const MAX_ENVELOPE_LENGTH = 2_000;
/** Cache of classifications by client description, which clients repeat with each request. */
const envelopes = new LRUCache<string, MessageClassification>({ max: 500 });

/** Returns the classification of a request whose header names the newest revision; `null` if its body does not match. */
function newestRevision(body: JSONRPCRequest, envelope: JsonObject): MessageClassification | null {
  const key = JSON.stringify(envelope);
  const known = envelopes.get(key);
  if (known) return known;
  const route = routeOf(body, NEWEST_REVISION);
  if (route.kind !== 'modern' || route.messageKind !== 'request' || route.classification.revision !== NEWEST_REVISION)
    return null;
  if (key.length <= MAX_ENVELOPE_LENGTH) envelopes.set(key, route.classification);
  return route.classification;
}

/** Lets a server answer one request. @returns JSON text with status 200; a `Response` if the revision demands another status for the error */
async function answerDirectly(server: RequestServer, { message, classification }: DirectRequest): Promise<string | Response> {
  if (classification) {
    const exchange = new JsonExchange({ classification });
    await server.connect(exchange);
    // `bind` on purpose: an arrow function here kept calls in memory until a full collection (measured, see adr/0023).
    exchange.onmessage = server.takeRequest.bind(server) as NonNullable<Transport['onmessage']>;
    return Promise.race([exchange.result, exchange.handleMessage(message)]);
  }
  const line = new SingleResponse();
  await server.connect(line);
  server.takeRequest(message);
  return JSON.stringify(await line.answered);
}

/** Transport for one request of the newest revision that keeps the result as JSON text. */
class JsonExchange extends PerRequestHTTPServerTransport {
  readonly result: Promise<string>;
  #resolve: (text: string) => void = () => {};

  constructor(options: ConstructorParameters<typeof PerRequestHTTPServerTransport>[0]) {
    super(options);
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('result' in message) this.#resolve(JSON.stringify(message));
    else await super.send(message, options);
  }
}

/** Transport that receives the single message of a server of an earlier revision. */
class SingleResponse implements Transport {
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

/** One HTTP request for the agent tools, read and authenticated. */
export interface Exchange {
  readonly headers: IncomingHttpHeaders;
  /** One message or a batch. */
  readonly body: JsonValue;
  /** The tools visible on this connection. */
  readonly tools: ToolSet;
  /** Calls a tool. @throws ProtocolError if there is none of that name */
  readonly call: (name: string, args: unknown) => Promise<CallToolResult>;
}
