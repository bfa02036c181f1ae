import type { AgentPermission } from '../../access/index.ts';
import type { System } from '../../systems/index.ts';

/** What is known of an access token (SPEC "Authentication: Agent-tool layer", user sign-in). */
export type BearerVerdict =
  | { readonly kind: 'valid'; readonly userId: string; readonly scopes: readonly AgentPermission[]; readonly clientId: string }
  /** This system signed it, and it expired or was revoked (CONTRACT "Agent tools, fine points"). */
  | { readonly kind: 'ended' }
  /** It is none of this system's. */
  | { readonly kind: 'unknown' };

/** Judges the access tokens of a system. `app.ts` hands it over from the authorization server. */
export type BearerCheck = (system: System, token: string) => Promise<BearerVerdict>;

/** The token of an `Authorization` header; `null` where that is of another scheme. */
export function bearerToken(authorization: string): string | null {
  return /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization)?.[1] ?? null;
}
