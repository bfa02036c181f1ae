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

/** What a user may be allowed to do through agents (SPEC "Authentication: Agent-tool layer" 1). Off by default, for everybody. */
export const agentPermissions = ['mcp:view', 'mcp:create', 'mcp:update', 'mcp:edit-page-and-schema'] as const;
export type AgentPermission = (typeof agentPermissions)[number];

const known: ReadonlySet<unknown> = new Set(agentPermissions);

/** Whether a text names one of them. */
export function isAgentPermission(value: unknown): value is AgentPermission {
  return known.has(value);
}

/** What a user who signed in for an agent brings beside his roles; never more than they give. */
export interface AgentRights {
  /** Both the user's own and those that he granted to the agent. */
  readonly permissions: ReadonlySet<AgentPermission>;
  /** Whether the system lets agents of users use advanced tools. */
  readonly advanced: boolean;
}

/** What an access token is good for at a system's agent tools (SPEC "Authentication: Agent-tool layer", user sign-in). */
export type BearerVerdict =
  | {
      readonly kind: 'valid';
      readonly userId: string;
      /** What the user granted; what the user still has is to be asked at each call. */
      readonly scopes: readonly AgentPermission[];
      readonly clientId: string;
    }
  /** The system has signed it: it has expired, was revoked, or is for another resource (CONTRACT "Agent tools, fine points"). */
  | { readonly kind: 'ended' }
  /** The system has never signed it. */
  | { readonly kind: 'unknown' };

/** What a tool asks of its caller, beside what the tables that it works on ask. */
export interface ToolRequirement {
  /** All of these. */
  readonly needs: readonly AgentPermission[];
  /** Advanced tools are for administrators (SPEC "Authentication: Agent-tool layer" 1). */
  readonly isAdvanced: boolean;
}

/** What keeps a caller from a tool; `null` where nothing does. */
export type ToolObstacle = 'credential' | { readonly lacks: AgentPermission } | 'role' | 'switch';

/** Whether a caller may use a tool: keys may all (SPEC "Authentication: Agent-tool layer"), users who signed in what they were given. */
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

/** The role whose members administer a system, by the permissions of a new one (SPEC "Authentication: Agent-tool layer" 1). */
export const ADMIN = 'Admin';

const isAdmin = ({ roles }: Extract<Principal, { kind: 'user' }>): boolean => roles.includes(ADMIN);

/** Whether a caller is a user who has the role that administers the system, whatever he may do over an agent. */
export const isAdministrator = (principal: Principal): boolean => principal.kind === 'user' && isAdmin(principal);

/** Whether the caller's agent may change schemas, pages and users: what an administrator else does with a key. */
export function administers(principal: Principal): boolean {
  return obstacleTo(principal, { needs: ['mcp:edit-page-and-schema'], isAdvanced: true }) === null;
}

/** Whether an agent may do what a permission is for: keys may, users who gave it. */
export function mayUse(principal: Principal, permission: AgentPermission): boolean {
  return obstacleTo(principal, { needs: [permission], isAdvanced: false }) === null;
}

/** Whether an agent may be shown what records hold. */
export const mayView = (principal: Principal): boolean => mayUse(principal, 'mcp:view');

/** Whether the flags of agent tools that silence triggers and the timeline count (SPEC "Authentication" rule 5). */
export function maySilenceTools({ kind }: Principal): boolean {
  return kind === 'master';
}
