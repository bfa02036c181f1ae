/** Who asks. Resolved once for a request (SPEC "Credentials"); only the authoriser reads more of it than its kind. */
export type Principal =
  | { readonly kind: 'master' }
  | { readonly kind: 'apiKey'; readonly name: string }
  | { readonly kind: 'user'; readonly userId: string; readonly roles: readonly string[] }
  /** The application id alone. */
  | { readonly kind: 'anonymous' }
  /** A credential was sent and is none of ours: 119 for whatever it asks (SPEC "Rules" 1). */
  | { readonly kind: 'invalid' };

export const master: Principal = { kind: 'master' };
export const anonymous: Principal = { kind: 'anonymous' };
export const invalid: Principal = { kind: 'invalid' };

/** Master and API keys act as the master identity (SPEC "Credentials"). */
export function holdsKey(principal: Principal): boolean {
  return principal.kind === 'master' || principal.kind === 'apiKey';
}

/** objectId of the user that a write is by; `master` is the dummy user of key writes (SPEC "`_Timeline` fields": user). */
export function actorId(principal: Principal): string | null {
  if (holdsKey(principal)) return 'master';
  return principal.kind === 'user' ? principal.userId : null;
}
