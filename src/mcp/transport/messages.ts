import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';

/** Error codes of JSON-RPC, and the one that SPEC names. */
export const rpcCodes = { parse: -32700, invalid: -32600, unknown: -32602, internal: -32603, refused: -32000 } as const;

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

/** The messages of a body: one, or those of a batch (revision 2025-03-26). */
export function messagesOf(body: JsonValue): readonly JsonValue[] {
  return Array.isArray(body) ? body : [body];
}

/** The id that an answer to the whole body has. */
export function idOf(body: JsonValue): JsonValue {
  const id = isJsonObject(body) ? own(body, 'id') : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Those of the messages that call tools, in their order: the name and arguments as sent. */
export function* toolCallsOf(body: JsonValue): IterableIterator<{ readonly name: unknown; readonly args: unknown }> {
  for (const message of messagesOf(body)) {
    if (!isJsonObject(message) || own(message, 'method') !== 'tools/call') continue;
    const sent = own(message, 'params');
    const params: JsonObject = isJsonObject(sent) ? sent : {};
    yield { name: own(params, 'name'), args: own(params, 'arguments') };
  }
}
