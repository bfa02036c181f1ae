import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { FastifyReply } from 'fastify';
import { ServiceError } from '../../errors/fail.ts';
import { retryAfterOf } from '../../errors/render.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';

/** Error codes of JSON-RPC, and the one that SPEC names. */
export const rpcCodes = { parse: -32700, invalid: -32600, internal: -32603, refused: -32000 } as const;

/** An answer without a result. */
export interface RpcError {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** JSON text of an error. @param id of the request; `null` where there is none, or several */
export function errorJson({ code, message }: RpcError, id: JsonValue = null): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id });
}

/** The id that an answer to the whole body has. */
export function idOf(body: JsonValue): JsonValue {
  const id = isJsonObject(body) ? own(body, 'id') : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Whether a message calls a tool. */
export const isToolCall = (message: JsonValue): message is JsonObject =>
  isJsonObject(message) && own(message, 'method') === 'tools/call';

/** The tools that the messages of a body call, one or those of a batch (revision 2025-03-26), in their order: the names as sent. */
export function* toolsCalled(body: JsonValue): IterableIterator<unknown> {
  for (const message of Array.isArray(body) ? body : [body]) {
    if (!isToolCall(message)) continue;
    const params = own(message, 'params');
    yield isJsonObject(params) ? own(params, 'name') : undefined;
  }
}

/** What a batch may hold. */
export interface BatchBound {
  readonly messages: number;
  /** Of these, such as ask for the list of tools or the like: the answer is thousands of times as long. */
  readonly listings: number;
}

/** Nothing is asked of who sends it. */
export const openBatch: BatchBound = { messages: 10, listings: 1 };
/** Of who has a credential that is good. */
export const knownBatch: BatchBound = { messages: 100, listings: 10 };

const listingMethods: ReadonlySet<unknown> = new Set(['tools/list', 'server/discover']);

/** The refusal of a batch that holds too much; `null` where it does not. */
export function refusalOfBatch(body: JsonValue, { messages, listings }: BatchBound): RpcError | null {
  if (!Array.isArray(body)) return null;
  if (body.length > messages) return tooMany(`${messages} messages`);
  const lists = body.filter((message) => isJsonObject(message) && listingMethods.has(own(message, 'method')));
  return lists.length > listings ? tooMany(listings === 1 ? 'one list' : `${listings} lists`) : null;
}

function tooMany(bound: string): RpcError {
  return { status: 400, code: rpcCodes.invalid, message: `Invalid Request: a batch holds ${bound} at most` };
}

/** What is answered where a request could not be. Faults show nothing of themselves. */
export function failureOf(error: unknown): RpcError {
  if (!(error instanceof ServiceError)) return { status: 500, code: rpcCodes.internal, message: 'server error' };
  const { key, status, message } = error;
  if (key === 'invalidJson' || key === 'nestedTooDeep')
    return { status, code: rpcCodes.parse, message: `Parse error: ${message}` };
  // What is left of the body is not waited for.
  if (key === 'bodyTooSlow') return { status, code: rpcCodes.refused, message, headers: { connection: 'close' } };
  const retryAfter = retryAfterOf(error);
  const headers = retryAfter === undefined ? {} : { headers: { 'retry-after': String(retryAfter) } };
  return { status, code: status >= 500 ? rpcCodes.internal : rpcCodes.refused, message, ...headers };
}

/** Sends what the protocol answers. @param response a text is JSON */
export async function sendResponse(reply: FastifyReply, response: Response | string): Promise<void> {
  if (typeof response === 'string') {
    reply.headers({ 'cache-control': 'no-store', 'content-type': 'application/json' }).send(response);
    return;
  }
  reply.code(response.status).header('cache-control', 'no-store');
  // Whether the connection stays is the server's to say.
  for (const [name, value] of response.headers) if (name !== 'connection') reply.header(name, value);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (isStream && response.body) reply.send(Readable.fromWeb(response.body as ReadableStream));
  else reply.send((await response.text()) || undefined);
}

/** Sends an error of the protocol. @param id of the request that it answers */
export function sendRpcError(reply: FastifyReply, error: RpcError, id: JsonValue = null): void {
  const { status, headers = {} } = error;
  reply.code(status).headers({ 'cache-control': 'no-store', 'content-type': 'application/json', ...headers });
  reply.send(errorJson(error, id));
}
