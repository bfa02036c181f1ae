import type { JsonValue } from '../kernel/json.ts';
import type { Selection } from './catalogue.ts';
import { type RpcError, rpcCodes, toolCallsOf } from './transport/messages.ts';

/** Whether a body calls tools: all else is open (SPEC "Agent-tool layer (MCP)"). */
export function callsTools(body: JsonValue): boolean {
  return !toolCallsOf(body).next().done;
}

/** CONTRACT "Addresses": what says to clients where to sign in. */
function metadataOf(baseUrl: string, appId: string | undefined): string {
  return appId === undefined
    ? ''
    : `, resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/mcp/${encodeURIComponent(appId)}"`;
}

/** SPEC "Authentication: Agent-tool layer" 3. The challenge has clients begin to sign in, for what the tool takes. */
export function credentialMissing(baseUrl: string, appId: string | undefined, body: JsonValue, tools: Selection): RpcError {
  const challenge = `Bearer error="insufficient_scope", scope="${scopeFor(body, tools)}"${metadataOf(baseUrl, appId)}`;
  return {
    status: 403,
    code: rpcCodes.refused,
    message: 'Authorization header is required',
    headers: { 'www-authenticate': challenge },
  };
}

/** The permissions that the tools of a body take. */
function scopeFor(body: JsonValue, tools: Selection): string {
  const scopes = new Set<string>();
  for (const { name } of toolCallsOf(body))
    for (const scope of (typeof name === 'string' && tools.byName.get(name)?.needs) || []) scopes.add(scope);
  return scopes.size > 0 ? [...scopes].join(' ') : 'mcp:view';
}

/** CONTRACT "Agent tools, fine points": the client fetches a new token on this. */
export function tokenEnded(baseUrl: string, appId: string): RpcError {
  return {
    status: 401,
    code: rpcCodes.refused,
    message: 'The access token has expired or was revoked',
    headers: { 'www-authenticate': `Bearer error="invalid_token"${metadataOf(baseUrl, appId)}` },
  };
}

/** CONTRACT "Requests": unknown or missing application id. */
export const unauthorized: RpcError = { status: 403, code: rpcCodes.refused, message: 'unauthorized' };
