import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { FastifyReply } from 'fastify';
import { ServiceError } from '../../errors/fail.ts';
import { retryAfterOf } from '../../errors/render.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';

/** Error codes of JSON-RPC, and the code of refusals. Reference: agents.md#errors-for-agents. */
export const rpcCodes = { parse: -32700, invalid: -32600, internal: -32603, refused: -32000 } as const;

/** An error response. */
export interface RpcError {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns an error as JSON text. @param id of the request; `null` if there is none or there are several */
export function errorJson({ code, message }: RpcError, id: JsonValue = null): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id });
}

/** Returns the id for an answer to the whole body. */
export function idOf(body: JsonValue): JsonValue {
  const id = isJsonObject(body) ? own(body, 'id') : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Whether a message calls a tool. */
export const isToolCall = (message: JsonValue): message is JsonObject =>
  isJsonObject(message) && own(message, 'method') === 'tools/call';

/** Yields the names of the tools that the messages of a body call, as sent, in order; a body is one message or a batch (revision 2025-03-26). */
export function* toolsCalled(body: JsonValue): IterableIterator<unknown> {
  for (const message of Array.isArray(body) ? body : [body]) {
    if (!isToolCall(message)) continue;
    const params = own(message, 'params');
    yield isJsonObject(params) ? own(params, 'name') : undefined;
  }
}

/** Limits of a batch. */
export interface BatchLimits {
  readonly messages: number;
  /** Maximum number of messages that list tools or the like, whose answers are thousands of times longer than the request. */
  readonly listings: number;
}

/** Without authentication. */
export const anonymousBatchLimits: BatchLimits = { messages: 10, listings: 1 };
/** With a valid credential. */
export const batchLimits: BatchLimits = { messages: 100, listings: 10 };

const listingMethods: ReadonlySet<unknown> = new Set(['tools/list', 'server/discover']);

/** Returns the refusal of a batch that exceeds the limits, else `null`. */
export function refusalOfBatch(body: JsonValue, { messages, listings }: BatchLimits): RpcError | null {
  if (!Array.isArray(body)) return null;
  if (body.length > messages) return tooMany(`${messages} messages`);
  const lists = body.filter((message) => isJsonObject(message) && listingMethods.has(own(message, 'method')));
  return lists.length > listings ? tooMany(listings === 1 ? 'one list' : `${listings} lists`) : null;
}

function tooMany(bound: string): RpcError {
  return { status: 400, code: rpcCodes.invalid, message: `Invalid Request: a batch holds ${bound} at most` };
}

/** Returns the error response for a request that failed. Unexpected faults reveal nothing. */
export function failureOf(error: unknown): RpcError {
  if (!(error instanceof ServiceError)) return { status: 500, code: rpcCodes.internal, message: 'server error' };
  const { key, status, message } = error;
  if (key === 'invalidJson' || key === 'nestedTooDeep')
    return { status, code: rpcCodes.parse, message: `Parse error: ${message}` };
  // Do not wait for the rest of the body.
  if (key === 'bodyTooSlow') return { status, code: rpcCodes.refused, message, headers: { connection: 'close' } };
  const retryAfter = retryAfterOf(error);
  const headers = retryAfter === undefined ? {} : { headers: { 'retry-after': String(retryAfter) } };
  return { status, code: status >= 500 ? rpcCodes.internal : rpcCodes.refused, message, ...headers };
}

/** Sends JSON text with status 200. */
export function sendJson(reply: FastifyReply, json: string): void {
  reply.header('cache-control', 'no-store').header('content-type', 'application/json; charset=utf-8').send(json);
}

/** Sends the answer of the protocol's library. */
export async function sendResponse(reply: FastifyReply, response: Response): Promise<void> {
  reply.code(response.status).header('cache-control', 'no-store');
  // `connection` is left to the HTTP server.
  for (const [name, value] of response.headers) if (name !== 'connection') reply.header(name, value);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (isStream && response.body) reply.send(Readable.fromWeb(response.body as ReadableStream));
  else reply.send((await response.text()) || undefined);
}

/** Sends an error response. @param id of the request */
export function sendRpcError(reply: FastifyReply, error: RpcError, id: JsonValue = null): void {
  const { status, headers = {} } = error;
  reply.code(status).headers({ 'cache-control': 'no-store', 'content-type': 'application/json', ...headers });
  reply.send(errorJson(error, id));
}
