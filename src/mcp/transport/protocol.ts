import type { IncomingHttpHeaders } from 'node:http';
import {
  createMcpHandler,
  isLegacyRequest,
  type JsonSchemaType,
  type jsonSchemaValidator,
  Server,
  type ServerOptions,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { HOUR_MS } from '../../kernel/time.ts';
import { serviceVersion } from '../../kernel/version.ts';
import type { Logger } from '../../observe/index.ts';
import { answerDirectly, directRequest, type Exchange } from './fast-path.ts';

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
