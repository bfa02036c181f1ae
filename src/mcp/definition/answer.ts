import type { CallToolResult } from '@modelcontextprotocol/server';
import { type JsonValue, unescapeJson } from '../../kernel/json.ts';

/** What a tool answers. */
export type ToolAnswer = JsonValue | EscapedAnswer;

/** An answer as JSON text that stands inside a JSON string already, as a result holds it. */
export class EscapedAnswer {
  readonly escaped: string;

  constructor(escaped: string) {
    this.escaped = escaped;
  }

  /** Returns the JSON text. */
  text(): string {
    return unescapeJson(this.escaped);
  }
}

/** The result of a call: one text; with `structuredContent`, an error. */
export interface ToolResult extends CallToolResult {
  readonly content: [{ type: 'text'; text: string }];
}
