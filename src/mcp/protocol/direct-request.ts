import {
  classifyInboundRequest,
  isJSONRPCRequest,
  isJsonContentType,
  type RequestId,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { type Exchange, NEWEST_REVISION } from './exchange.ts';

/** The family of revisions that a request belongs to: single requests, or those with a handshake. */
export type Era = 'newest' | 'older';

/** A request that is answered without the library: it would answer it as it has answered others of the same form. */
export interface DirectRequest {
  readonly era: Era;
  readonly id: RequestId;
  /** `null` for the list of tools. */
  readonly call: { readonly name: string; readonly args: JsonValue | undefined } | null;
}

const olderRevisions: ReadonlySet<string> = new Set(SUPPORTED_PROTOCOL_VERSIONS);

/**
 * Returns the request of an exchange that has the one form that nearly all requests have: a single call of a known tool, or the list of tools,
 * without members beyond the necessary.
 * @returns `null` for everything else, including requests to refuse: the library answers these
 */
export function directRequest({ headers, body, tools }: Exchange): DirectRequest | null {
  if (!isJsonObject(body) || !hasOnly(body, messageMembers) || body.jsonrpc !== '2.0') return null;
  const { method, id, params = {} } = body;
  if (!isRequestId(id) || !isJsonObject(params) || !isJson(headers['content-type'])) return null;
  const isCall = method === 'tools/call';
  if (!(isCall ? hasOnly(params, callMembers) : method === 'tools/list' && hasOnly(params, listMembers))) return null;
  const { name, arguments: args } = params;
  if (isCall && !(typeof name === 'string' && tools.byName.has(name) && isArguments(args))) return null;
  const era = eraOf(headers, body, params);
  return era && { era, id, call: isCall ? { name: name as string, args } : null };
}

const messageMembers: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const callMembers: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);
const listMembers: ReadonlySet<string> = new Set(['_meta']);

function hasOnly(object: JsonObject, names: ReadonlySet<string>): boolean {
  for (const name in object) if (!names.has(name)) return false;
  return true;
}

const isRequestId = (id: JsonValue | undefined): id is RequestId => typeof id === 'string' || Number.isSafeInteger(id);

const isJson = (type: string | undefined): boolean => type === 'application/json' || isJsonContentType(type);

/** The library drops a key `__proto__`. */
const isArguments = (args: JsonValue | undefined): boolean =>
  args === undefined || (isJsonObject(args) && !Object.hasOwn(args, '__proto__'));

/** Returns the family of a request; `null` if its headers do not say exactly the same as its body. */
function eraOf(headers: Exchange['headers'], body: JsonObject, { name, _meta: meta }: JsonObject): Era | null {
  const { 'mcp-protocol-version': version, 'mcp-method': methodHeader, 'mcp-name': nameHeader } = headers;
  if (version === NEWEST_REVISION) {
    if (methodHeader !== body.method || nameHeader !== name || !isJsonObject(meta)) return null;
    return isNewestEnvelope(body, meta) ? 'newest' : null;
  }
  if (version !== undefined && !(typeof version === 'string' && olderRevisions.has(version))) return null;
  if (methodHeader !== undefined || nameHeader !== undefined) return null;
  return meta === undefined || (isJSONRPCRequest(body) && routeOf(body, version).kind === 'legacy') ? 'older' : null;
}

/** Returns how the library routes a request, by its body and version header. */
function routeOf(body: JsonObject, version: string | undefined): ReturnType<typeof classifyInboundRequest> {
  return classifyInboundRequest({ httpMethod: 'POST', ...(version !== undefined && { protocolVersionHeader: version }), body });
}

/** Maximum length of the client description that is cached. */
const MAX_ENVELOPE_LENGTH = 2_000;
/** Client descriptions that the library takes for those of the newest revision; clients repeat them with each request. */
const newestEnvelopes = new LRUCache<string, true>({ max: 500 });

/** Whether the library takes a request whose header names the newest revision for one of it, by its client description. */
function isNewestEnvelope(body: JsonObject, envelope: JsonObject): boolean {
  const key = JSON.stringify(envelope);
  if (newestEnvelopes.has(key)) return true;
  const route = routeOf(body, NEWEST_REVISION);
  if (route.kind !== 'modern' || route.messageKind !== 'request' || route.classification.revision !== NEWEST_REVISION)
    return false;
  if (key.length <= MAX_ENVELOPE_LENGTH) newestEnvelopes.set(key, true);
  return true;
}
