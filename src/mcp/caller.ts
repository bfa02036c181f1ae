import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { agentPermissions, type BearerVerdict, type Principal } from '../access/index.ts';
import type { JsonValue } from '../kernel/json.ts';
import { memoByObject } from '../kernel/memo.ts';
import type { System } from '../systems/index.ts';
import { agentFor } from '../users/index.ts';
import { isToolCall, type RpcError, rpcCodes } from './transport/messages.ts';

/** The caller of tools. Reference: agents.md#modes. */
export type Caller =
  /** No credential was sent; the application id alone is none. */
  | { readonly kind: 'none' }
  | { readonly kind: 'known'; readonly principal: Principal }
  /** The credential does not belong to this system. */
  | { readonly kind: 'wrong' }
  /** An access token of this system that expired or was revoked, or whose user was deleted or is not active. */
  | { readonly kind: 'ended' };

const none: Caller = { kind: 'none' };
const wrong: Caller = { kind: 'wrong' };
const ended: Caller = { kind: 'ended' };

/** Returns the application id from the path or a header; an empty one counts as missing. Reference: agents.md#addresses-of-agents. */
export function appIdOf({ params, headers }: FastifyRequest): string | undefined {
  const { appId } = params as { readonly appId?: string };
  return appId || (headers['x-platform-application-id'] as string | undefined) || undefined;
}

/** Credentials as sent. */
export interface SentCredentials {
  readonly masterKey: string | undefined;
  readonly apiKey: string | undefined;
  readonly authorization: string | undefined;
}

export function credentialsOf(headers: IncomingHttpHeaders): SentCredentials {
  return {
    masterKey: headers['x-platform-master-key'] as string | undefined,
    apiKey: headers['x-platform-api-key'] as string | undefined,
    authorization: headers.authorization,
  };
}

/** Whether any credential was sent; empty ones do not count. */
export function hasCredential({ masterKey, apiKey, authorization }: SentCredentials): boolean {
  return Boolean(masterKey || apiKey || authorization);
}

/**
 * Authenticates the sender of a request. As in REST, only the strongest credential is checked. Reference: agents.md#modes.
 * @throws TooManyRequests (155) after too many wrong keys from the address
 */
export function callerFor(system: System, { headers, ip }: FastifyRequest, check: BearerCheck): Caller | Promise<Caller> {
  const { masterKey, apiKey, authorization } = credentialsOf(headers);
  const principal = system.principalFor({ masterKey, apiKey, sessionToken: authorization }, ip ?? '');
  if (principal?.kind === 'anonymous') return none;
  if (principal?.kind === 'invalid') return wrong;
  if (principal) return { kind: 'known', principal: forTools(principal) };
  const token = bearerToken(authorization ?? '');
  return token === null ? wrong : ofToken(system, token, check);
}

/** Marks an API key as used by an agent. One object per key, because the authoriser caches its decisions by object. */
const forTools = memoByObject(
  (principal: Principal): Principal => (principal.kind === 'apiKey' ? { ...principal, tools: true } : principal),
);

async function ofToken(system: System, token: string, check: BearerCheck): Promise<Caller> {
  const verdict = await check(system, token);
  if (verdict.kind === 'unknown') return wrong;
  if (verdict.kind === 'ended') return ended;
  const principal = await agentFor(system.store, verdict.userId, verdict.scopes);
  return principal ? { kind: 'known', principal } : ended;
}

/** Checks an access token of a system. `app.ts` passes the authorization server's implementation. */
export type BearerCheck = (system: System, token: string) => Promise<BearerVerdict>;

/** Returns the token of an `Authorization` header; `null` for other schemes. */
export function bearerToken(authorization: string): string | null {
  return /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization)?.[1] ?? null;
}

/** Whether a body calls tools; everything else needs no credential. Reference: agents.md#modes. */
export function callsTools(body: JsonValue): boolean {
  return Array.isArray(body) ? body.some(isToolCall) : isToolCall(body);
}

/** Returns the challenge parameter that points to the sign-in metadata. Reference: sign-in.md#issuer-and-metadata. */
function metadataOf(baseUrl: string, appId: string | undefined): string {
  return appId === undefined
    ? ''
    : `, resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/mcp/${encodeURIComponent(appId)}"`;
}

/**
 * The answer to a missing credential (agents.md#modes). The challenge makes clients start the sign-in. It lists all permissions, because clients
 * request no others later; the user chooses which to grant.
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

/** The answer to an expired or revoked token, which makes the client refresh it. Reference: agents.md#modes. */
export function tokenEnded(baseUrl: string, appId: string): RpcError {
  return {
    status: 401,
    code: rpcCodes.refused,
    message: 'The access token has expired or was revoked',
    headers: { 'www-authenticate': `Bearer error="invalid_token"${metadataOf(baseUrl, appId)}` },
  };
}

/** The answer to a missing or unknown application id. */
export const unauthorized: RpcError = { status: 403, code: rpcCodes.refused, message: 'unauthorized' };
