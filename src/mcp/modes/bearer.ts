import type { BearerVerdict } from '../../access/index.ts';
import type { System } from '../../systems/index.ts';

/** Judges the access tokens of a system. `app.ts` hands it over from the authorization server. */
export type BearerCheck = (system: System, token: string) => Promise<BearerVerdict>;

/** The token of an `Authorization` header; `null` where that is of another scheme. */
export function bearerToken(authorization: string): string | null {
  return /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization)?.[1] ?? null;
}
