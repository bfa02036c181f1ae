import { type AgentPermission, isAgentPermission } from '../access/index.ts';
import { type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import { configFlag, readRow } from '../records/index.ts';
import type { Store } from '../storage/port.ts';
import { callerOf, type UserPrincipal } from './accounts/present.ts';

const fields = ['active', 'mcpPermissions'] as const;

interface UserRow {
  readonly active?: boolean;
  readonly mcpPermissions?: JsonValue;
}

/** Returns the MCP permissions of a user; `null` if the user is gone or not active. Reference: agents.md#mcp-permissions. */
export async function agentPermissionsOf(store: Store, userId: string): Promise<ReadonlySet<AgentPermission> | null> {
  const user = await readRow<UserRow>(store, '_User', fields, userId);
  if (!user || user.active === false) return null;
  return new Set(Array.isArray(user.mcpPermissions) ? user.mcpPermissions.filter(isAgentPermission) : []);
}

/**
 * Returns a user who signed in for an agent, as of now: the user is read at each call, so that a withdrawn permission counts at once.
 * @param granted the permissions that the user granted to the agent: an upper bound
 * @returns `null` if the user is gone or not active
 */
export async function agentFor(store: Store, userId: string, granted: Iterable<AgentPermission>): Promise<UserPrincipal | null> {
  const own = await agentPermissionsOf(store, userId);
  if (!own) return null;
  const { signIn, advancedTools: advanced } = await agentSwitches(store);
  const permissions = signIn ? [...new Set(granted)].filter((one) => own.has(one)) : [];
  return callerOf(store, userId, `agent ${permissions.sort().join(' ')} ${advanced}`, (roles) => ({
    kind: 'user',
    userId,
    roles,
    agent: { permissions: new Set(permissions), advanced },
  }));
}

/** Whether a system admits agents of users, and whether these may use advanced tools. */
export interface AgentSwitches {
  readonly signIn: boolean;
  readonly advancedTools: boolean;
}

/** Flags of `Config`; without a row the first is on and the second off (system-tables.md#config). */
const SIGN_IN = 'McpSignIn';
const ADVANCED = 'McpAdvancedTools';

/** Returns the present switches of a system. */
export async function agentSwitches(store: Store): Promise<AgentSwitches> {
  const [signIn, advancedTools] = await Promise.all([configFlag(store, SIGN_IN), configFlag(store, ADVANCED)]);
  return { signIn: flagOf(signIn, SIGN_IN) !== false, advancedTools: flagOf(advancedTools, ADVANCED) === true };
}

const flagOf = (value: JsonObject | null, name: string): JsonValue | undefined => (value ? own(value, name) : undefined);
