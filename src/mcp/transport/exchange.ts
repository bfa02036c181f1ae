import type { IncomingHttpHeaders } from 'node:http';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { JsonValue } from '../../kernel/json.ts';
import type { Selection } from '../catalogue.ts';

/** One HTTP request for the agent tools, its body read and let in by the gate. */
export interface Exchange {
  readonly headers: IncomingHttpHeaders;
  /** One message or a batch. */
  readonly body: JsonValue;
  /** The tools that this connection sees. */
  readonly tools: Selection;
  /** Calls a tool. @throws ProtocolError where there is none of that name */
  readonly call: (name: string, args: unknown) => Promise<CallToolResult>;
}
