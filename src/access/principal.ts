import type { AgentRights } from './agent.ts';

/** Who asks. Resolved once for a request (SPEC "Credentials"); only the authoriser reads more of it than its kind. */
export type Principal =
  | { readonly kind: 'master' }
  | {
      readonly kind: 'apiKey';
      readonly name: string;
      /** Whether it came with an agent, whose keys are the master identity (SPEC "Authentication: Agent-tool layer"). */
      readonly tools?: true;
    }
  | {
      readonly kind: 'user';
      readonly userId: string;
      readonly roles: readonly string[];
      /** Of a user who signed in for an agent. */
      readonly agent?: AgentRights;
    }
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
