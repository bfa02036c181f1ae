import type { IncomingHttpHeaders } from 'node:http';
import {
  type CallToolResult,
  classifyInboundRequest,
  isJSONRPCRequest,
  isJsonContentType,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type Server,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from '@modelcontextprotocol/server';
import { isJsonObject, type JsonValue } from '../../kernel/json.ts';
import type { ToolSet } from '../tool-registry.ts';

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
