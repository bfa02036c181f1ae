import { isJsonObject, type JsonValue, own } from '../../kernel/json.ts';

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

/** The tools that the messages of a body call, one or those of a batch (revision 2025-03-26), in their order: the names as sent. */
export function* toolsCalled(body: JsonValue): IterableIterator<unknown> {
  for (const message of Array.isArray(body) ? body : [body]) {
    if (!isJsonObject(message) || own(message, 'method') !== 'tools/call') continue;
    const params = own(message, 'params');
    yield isJsonObject(params) ? own(params, 'name') : undefined;
  }
}
