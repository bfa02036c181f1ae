/** A connection to the agent tools of a system, through the official client of the Model Context Protocol. */
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

// biome-ignore lint/suspicious/noExplicitAny: tools return JSON that the example inspects field by field.
export type Json = any;

/** An API key, or the access token of a user who signed in. */
export interface Credential {
  apiKey?: string | undefined;
  token?: string | undefined;
}

export interface Connection {
  /** Calls a tool that must succeed; returns its result. */
  use(tool: string, args?: Record<string, unknown>): Promise<Json>;
  /** Calls a tool that must refuse; returns the error text for the agent. */
  refused(tool: string, args: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

/** Connects to the agent tools. @param url of a system's agent tools: `http://127.0.0.1:8080/mcp/APP_ID` */
export async function connect(url: string, { apiKey, token }: Credential): Promise<Connection> {
  const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : { 'X-Platform-API-Key': apiKey ?? '' };
  // The current protocol revision if the server supports it, else an earlier one.
  const client = new Client({ name: 'chores', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));

  async function call(tool: string, args: Record<string, unknown>): Promise<{ text: string; isError: boolean }> {
    const { content, isError = false } = await client.callTool({ name: tool, arguments: args });
    const [first] = content;
    return { text: first?.type === 'text' ? first.text : '', isError };
  }
  return {
    async use(tool, args = {}) {
      const { text, isError } = await call(tool, args);
      assert.ok(!isError, `${tool} ${JSON.stringify(args)}: ${text}`);
      return JSON.parse(text);
    },
    async refused(tool, args) {
      const { text, isError } = await call(tool, args);
      assert.ok(isError, `${tool} ${JSON.stringify(args)} was not refused: ${text}`);
      return text;
    },
    close: () => client.close(),
  };
}
