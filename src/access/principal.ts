/** The authenticated caller, resolved once per request (authentication.md#credentials). Only the authoriser reads more of it than its kind. */
export type Principal =
  | { readonly kind: 'master' }
  | {
      readonly kind: 'apiKey';
      readonly name: string;
      /** Whether it came with an agent, whose keys are the master identity (agents.md#modes). */
      readonly tools?: true;
    }
  | {
      readonly kind: 'user';
      readonly userId: string;
      readonly roles: readonly string[];
      /** Set for a user who signed in for an agent. */
      readonly agent?: AgentRights;
    }
  /** The application id alone. */
  | { readonly kind: 'anonymous' }
  /** An unknown credential was sent: every action is refused with 119 (permissions.md#who-is-asking). */
  | { readonly kind: 'invalid' };

export const master: Principal = { kind: 'master' };
export const anonymous: Principal = { kind: 'anonymous' };
export const invalid: Principal = { kind: 'invalid' };

/** Whether a caller has a master or API key; both act as the master identity (authentication.md#keys). */
export function holdsKey(principal: Principal): boolean {
  return principal.kind === 'master' || principal.kind === 'apiKey';
}

/** Returns the objectId of the author of a write; `master` is the dummy user of writes with keys (system-tables.md#_timeline). */
export function actorId(principal: Principal): string | null {
  if (holdsKey(principal)) return 'master';
  return principal.kind === 'user' ? principal.userId : null;
}

/** Returns the name of the credential that a caller came with: the master key, an API key, or the sessions of a user. */
export function credentialNameOf(principal: Principal): string {
  if (principal.kind === 'apiKey') return `key ${principal.name}`;
  return principal.kind === 'user' ? `user ${principal.userId}` : principal.kind;
}

/** Returns a text that is the same for callers to whom every record looks the same: keys, or a user with the same roles. */
export function viewerOf(principal: Principal): string {
  if (holdsKey(principal)) return 'key';
  return principal.kind === 'user' ? JSON.stringify([principal.userId, ...[...principal.roles].sort()]) : principal.kind;
}

/** What a user may be allowed to do through agents, off by default. Reference: agents.md#mcp-permissions. */
export const agentPermissions = ['mcp:view', 'mcp:create', 'mcp:update', 'mcp:edit-page-and-schema'] as const;
export type AgentPermission = (typeof agentPermissions)[number];

const known: ReadonlySet<unknown> = new Set(agentPermissions);

/** Whether a value is one of these names. */
export function isAgentPermission(value: unknown): value is AgentPermission {
  return known.has(value);
}

/** Rights of a user who signed in for an agent, within what the user's roles give. */
export interface AgentRights {
  /** The permissions that the user has and has granted to the agent. */
  readonly permissions: ReadonlySet<AgentPermission>;
  /** Whether the system lets agents of users use advanced tools. */
  readonly advanced: boolean;
}

/** The result of checking an access token for a system's agent tools. Reference: agents.md#modes. */
export type BearerVerdict =
  | {
      readonly kind: 'valid';
      readonly userId: string;
      /** What the user granted; what the user still has is checked at each call. */
      readonly scopes: readonly AgentPermission[];
      readonly clientId: string;
    }
  /** Signed by this system, but expired, revoked, or for another resource. */
  | { readonly kind: 'ended' }
  /** Never signed by this system. */
  | { readonly kind: 'unknown' };

/** What a tool requires of its caller, beside the permissions of the tables that it works on. */
export interface ToolRequirement {
  /** All of these. */
  readonly needs: readonly AgentPermission[];
  /** Advanced tools are for administrators (agents.md#tool-rights). */
  readonly isAdvanced: boolean;
}

/** What keeps a caller from using a tool. */
export type ToolObstacle = 'credential' | { readonly lacks: AgentPermission } | 'role' | 'switch';

/**
 * Returns what keeps a caller from a tool, `null` if nothing: keys may use all tools, users those they have been permitted (agents.md#tool-rights).
 */
export function obstacleTo(principal: Principal, { needs, isAdvanced }: ToolRequirement): ToolObstacle | null {
  if (holdsKey(principal)) return null;
  const rights = principal.kind === 'user' ? principal.agent : undefined;
  if (principal.kind !== 'user' || !rights) return 'credential';
  const lacks = needs.find((one) => !rights.permissions.has(one));
  if (lacks) return { lacks };
  if (!isAdvanced) return null;
  if (!isAdmin(principal)) return 'role';
  return rights.advanced ? null : 'switch';
}

/** The role whose members administer a system (users.md#administrators). */
export const ADMIN = 'Admin';

const isAdmin = ({ roles }: Extract<Principal, { kind: 'user' }>): boolean => roles.includes(ADMIN);

/** Whether a caller is a user with the administrators' role, whatever its agent may do. */
export const isAdministrator = (principal: Principal): boolean => principal.kind === 'user' && isAdmin(principal);

/** Whether the caller's agent may change schemas, pages and users, for which administrators otherwise need a key. */
export function administers(principal: Principal): boolean {
  return obstacleTo(principal, { needs: ['mcp:edit-page-and-schema'], isAdvanced: true }) === null;
}

/** Whether an agent has a permission: keys always, users if they gave it. */
export function mayUse(principal: Principal, permission: AgentPermission): boolean {
  return obstacleTo(principal, { needs: [permission], isAdvanced: false }) === null;
}

/** Whether an agent may be shown values of records. */
export const mayView = (principal: Principal): boolean => mayUse(principal, 'mcp:view');

/** Whether the flags of agent tools that silence triggers and the timeline take effect (agents.md#modes). */
export function maySilenceTools({ kind }: Principal): boolean {
  return kind === 'master';
}
