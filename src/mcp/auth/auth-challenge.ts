import { agentPermissions } from '../../access/index.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { type RpcError, rpcCodes, toolsCalled } from '../transport/messages.ts';

/** Whether a body calls tools: all else is open (SPEC "Agent-tool layer (MCP)"). */
export function callsTools(body: JsonValue): boolean {
  return !toolsCalled(body).next().done;
}

/** CONTRACT "Addresses": what says to clients where to sign in. */
function metadataOf(baseUrl: string, appId: string | undefined): string {
  return appId === undefined
    ? ''
    : `, resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/mcp/${encodeURIComponent(appId)}"`;
}

/**
 * SPEC "Authentication: Agent-tool layer" 3. The challenge has clients begin to sign in. It names all permissions, since clients ask for no
 * other later: the user ticks those that he gives.
 */
export function credentialMissing(baseUrl: string, appId: string | undefined): RpcError {
  const challenge = `Bearer error="insufficient_scope", scope="${agentPermissions.join(' ')}"${metadataOf(baseUrl, appId)}`;
  return {
    status: 403,
    code: rpcCodes.refused,
    message: 'Authorization header is required',
    headers: { 'www-authenticate': challenge },
  };
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
