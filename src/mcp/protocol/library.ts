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
import { EscapedAnswer } from '../definition/answer.ts';
import { type Exchange, wantsStream } from './exchange.ts';

const identity = { name: 'record-data-service', title: 'Record Data Service', version: serviceVersion() } as const;

const instructions =
  'A CRM: records in tables. Call Get-Schema with tablesNameOnly, then with one className, before the first read or write of a table. ' +
  'Pointer fields store {"__type":"Pointer","className","objectId"}; Get-Lookup-Values has the ids of statuses and the like.';

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

/** The protocol as its library speaks it: any message, in any revision, with HTTP objects of its own. */
export class ProtocolLibrary {
  readonly #exchanges = new WeakMap<Request, Exchange>();
  readonly #newest: ReturnType<typeof createMcpHandler>;

  constructor(log: Logger) {
    const factory = ({ requestInfo }: { requestInfo?: Request }) =>
      serverOf(this.#exchanges.get(requestInfo as Request) as Exchange);
    this.#newest = createMcpHandler(factory, {
      legacy: 'reject',
      onerror: (error) => log.debug({ err: error }, 'a request for agent tools was refused'),
    });
  }

  /** Answers a request in the revision that it states: 2026-07-28, or 2024-11-05 to 2025-11-25. */
  async answer(exchange: Exchange): Promise<Response> {
    const { headers } = exchange;
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: protocolHeaders(headers) });
    const parsedBody: unknown = exchange.body;
    if (await isLegacyRequest(request, parsedBody)) {
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !wantsStream(headers.accept) });
      await serverOf(exchange).connect(transport);
      return transport.handleRequest(request, { parsedBody });
    }
    this.#exchanges.set(request, exchange);
    return this.#newest.fetch(request, { parsedBody });
  }
}

function serverOf({ tools, call }: Exchange): Server {
  const server = new Server(identity, options);
  server.setRequestHandler('tools/list', () => tools.list);
  server.setRequestHandler('tools/call', async ({ params }) => {
    const result = await call(params.name, params.arguments);
    return result instanceof EscapedAnswer ? { content: [{ type: 'text', text: result.text() }] } : result;
  });
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
