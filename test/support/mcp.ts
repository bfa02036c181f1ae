/** Calls agent tools as a Model Context Protocol client does: JSON-RPC over POST. Reference: agents.md#protocol. */
import assert from 'node:assert/strict';
import type { Json } from './records.ts';
import type { Service } from './service.ts';

type Target = Pick<Service, 'url' | 'appId'>;
type Keys = Pick<Service, 'apiKey' | 'masterKey'>;

/** An answer of the agent tools' address. */
export interface RpcAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The JSON of the answer; `undefined` if it has none. */
  body: Json;
}

/** The answer of a tool. */
export interface ToolAnswer {
  status: number;
  isError: boolean;
  /** The text of the result's content; without a result, the JSON-RPC message. */
  text: string;
  /** The text parsed as JSON, for errors `structuredContent`; `undefined` if it is not JSON. */
  json: Json;
  /** The whole JSON-RPC answer. */
  body: Json;
  headers: Headers;
}

/** Returns the credentials of key mode. */
export const keyHeaders = ({ apiKey }: Keys): Record<string, string> => ({ 'X-Platform-API-Key': apiKey });
export const masterHeaders = ({ masterKey }: Keys): Record<string, string> => ({ 'X-Platform-Master-Key': masterKey });
export const bearerHeaders = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

/** Posts a body to an address of the agent tools; anything but a string is sent as JSON. */
export async function post(address: string, body: unknown, headers: Record<string, string> = {}): Promise<RpcAnswer> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  let parsed: Json;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  return { status: response.status, headers: response.headers, text, body: parsed };
}

/** Returns the address of a system's agent tools. */
export const mcpAddress = ({ url, appId }: Target): string => `${url}/mcp/${appId}`;

/** Returns a JSON-RPC request. */
export const message = (method: string, params: object = {}, id: number | string = 1): Json => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

/** Sends one request to a system's agent tools. */
export const rpc = (target: Target, headers: Record<string, string>, method: string, params: object = {}): Promise<RpcAnswer> =>
  post(mcpAddress(target), message(method, params), headers);

/** Calls a tool. */
export async function callTool(
  target: Target,
  headers: Record<string, string>,
  name: string,
  args: object = {},
): Promise<ToolAnswer> {
  const answer = await rpc(target, headers, 'tools/call', { name, arguments: args });
  return { status: answer.status, headers: answer.headers, body: answer.body, ...shownOf(answer.body) };
}

function shownOf(body: Json): Pick<ToolAnswer, 'isError' | 'text' | 'json'> {
  const result = body?.result;
  if (!result) return { isError: true, text: body?.error?.message ?? '', json: body?.error };
  const text: string = result.content?.[0]?.text ?? '';
  const isError = result.isError === true;
  if (isError) return { isError, text, json: result.structuredContent };
  try {
    return { isError, text, json: JSON.parse(text) };
  } catch {
    return { isError, text, json: undefined };
  }
}

/** Calls a tool, which must succeed; returns its text parsed as JSON. */
export async function useTool(target: Target, headers: Record<string, string>, name: string, args: object = {}): Promise<Json> {
  const answer = await callTool(target, headers, name, args);
  assert.ok(!answer.isError, `${name} ${JSON.stringify(args)}: ${answer.text}`);
  return answer.json;
}
