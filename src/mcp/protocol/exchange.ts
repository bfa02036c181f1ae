import type { IncomingHttpHeaders } from 'node:http';
import type { JsonValue } from '../../kernel/json.ts';
import type { EscapedAnswer, ToolResult } from '../definition/answer.ts';
import type { ToolSet } from '../definition/tool.ts';

/** One HTTP request for the agent tools, read and authenticated. */
export interface Exchange {
  readonly headers: IncomingHttpHeaders;
  /** One message or a batch. */
  readonly body: JsonValue;
  /** The tools visible on this connection. */
  readonly tools: ToolSet;
  /** Calls a tool. @throws ProtocolError if there is none of that name */
  readonly call: (name: string, args: unknown) => Promise<ToolResult | EscapedAnswer>;
}

/** The stateless revision: its requests carry what a session held before. */
export const NEWEST_REVISION = '2026-07-28';

/** Whether a request is to be answered as a stream. Plain JSON otherwise: simple clients such as curl understand nothing else. */
export function wantsStream(accept: string | undefined): boolean {
  return accept !== undefined && /text\/event-stream/i.test(accept) && !/\*\/\*|application\/(?:json|\*)/i.test(accept);
}
