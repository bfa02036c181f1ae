import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { agentPermissions, type BearerVerdict, type Principal } from '../access/index.ts';
import type { JsonValue } from '../kernel/json.ts';
import { memoByObject } from '../kernel/memo.ts';
import type { System } from '../systems/index.ts';
import { agentFor } from '../users/index.ts';
import { isToolCall, type RpcError, rpcCodes } from './transport/messages.ts';

/** Who calls tools. */
export type Caller =
  /** No credential was sent; the application id alone is none (CONTRACT "Agent tools, fine points"). */
  | { readonly kind: 'none' }
  | { readonly kind: 'known'; readonly principal: Principal }
  /** A credential that is not this system's. */
  | { readonly kind: 'wrong' }
  /** A token of this system that expired or was revoked, or whose user is gone or not active. */
  | { readonly kind: 'ended' };

const none: Caller = { kind: 'none' };
const wrong: Caller = { kind: 'wrong' };
const ended: Caller = { kind: 'ended' };

/** CONTRACT "Addresses": the address names the system, or a header. An empty name counts as none. */
export function appIdOf({ params, headers }: FastifyRequest): string | undefined {
  const { appId } = params as { readonly appId?: string };
  return appId || (headers['x-platform-application-id'] as string | undefined) || undefined;
}

/** What a request brings to be let in. */
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

/** An empty credential counts as none. */
export function hasCredential({ masterKey, apiKey, authorization }: SentCredentials): boolean {
  return Boolean(masterKey || apiKey || authorization);
}

/**
 * Who sent a request (SPEC "Authentication: Agent-tool layer"). As in REST the strongest one decides, right or wrong.
 * @throws TooManyRequests (155) where keys are tried out
 */
export async function callerFor(system: System, { headers, ip }: FastifyRequest, check: BearerCheck): Promise<Caller> {
  const { masterKey, apiKey, authorization } = credentialsOf(headers);
  const principal = system.principalFor({ masterKey, apiKey, sessionToken: authorization }, ip ?? '');
  if (principal?.kind === 'anonymous') return none;
  if (principal?.kind === 'invalid') return wrong;
  if (principal) return { kind: 'known', principal: forTools(principal) };
  const token = bearerToken(authorization ?? '');
  return token === null ? wrong : ofToken(system, token, check);
}

/** An API key that came with an agent: one object for each key, by which the authoriser remembers what it decided. */
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

/** Judges the access tokens of a system. `app.ts` hands it over from the authorization server. */
export type BearerCheck = (system: System, token: string) => Promise<BearerVerdict>;

/** The token of an `Authorization` header; `null` where that is of another scheme. */
export function bearerToken(authorization: string): string | null {
  return /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization)?.[1] ?? null;
}

/** Whether a body calls tools: all else is open (SPEC "Agent-tool layer (MCP)"). */
export function callsTools(body: JsonValue): boolean {
  return Array.isArray(body) ? body.some(isToolCall) : isToolCall(body);
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
