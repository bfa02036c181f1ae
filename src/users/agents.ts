import { LRUCache } from 'lru-cache';
import { type AgentPermission, isAgentPermission, type Principal } from '../access/index.ts';
import { type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import { configFlag, readRow } from '../records/index.ts';
import type { Store } from '../storage/port.ts';
import { rolesOf, sameRoles } from './roles.ts';

/** A user who signed in for an agent. */
export type AgentPrincipal = Extract<Principal, { kind: 'user' }>;

/** So many callers of a system are remembered, for what the authoriser hangs on them. */
const REMEMBERED = 1_000;

const fields = ['active', 'mcpPermissions'] as const;

interface UserRow {
  readonly active?: boolean;
  readonly mcpPermissions?: JsonValue;
}

/** The roles of a user as of a version of `_Role`, and the caller that was made of him last. */
interface Known {
  readonly rolesAt: number;
  readonly roles: readonly string[];
  readonly callers: Map<string, AgentPrincipal>;
}

const knownOf = new WeakMap<Store, LRUCache<string, Known>>();

/** What a user may do through agents (SPEC "Authentication: Agent-tool layer" 1); `null` where he is gone or not active. */
export async function agentPermissionsOf(store: Store, userId: string): Promise<ReadonlySet<AgentPermission> | null> {
  const user = await readRow<UserRow>(store, '_User', fields, userId);
  if (!user || user.active === false) return null;
  return new Set(Array.isArray(user.mcpPermissions) ? user.mcpPermissions.filter(isAgentPermission) : []);
}

/**
 * A user who signed in for an agent, as of now: his record is read at each call, so that a withdrawal works at once.
 * @param granted what he granted to the agent: an upper bound
 * @returns `null` where he is gone or not active
 */
export async function agentFor(store: Store, userId: string, granted: Iterable<AgentPermission>): Promise<AgentPrincipal | null> {
  const own = await agentPermissionsOf(store, userId);
  if (!own) return null;
  const { signIn, advancedTools: advanced } = await agentSwitches(store);
  const permissions = signIn ? [...new Set(granted)].filter((one) => own.has(one)) : [];
  const known = await knownUser(store, userId);
  const key = `${permissions.sort().join(' ')} ${advanced}`;
  let caller = known.callers.get(key);
  if (!caller) {
    caller = { kind: 'user', userId, roles: known.roles, agent: { permissions: new Set(permissions), advanced } };
    known.callers.set(key, caller);
  }
  return caller;
}

/** Whether a system lets agents of users in, and whether these may use advanced tools. */
export interface AgentSwitches {
  readonly signIn: boolean;
  readonly advancedTools: boolean;
}

/** Rows of `Config`: on and off where there is none. */
const SIGN_IN = 'McpSignIn';
const ADVANCED = 'McpAdvancedTools';

/** The switches of a system, as of now. */
export async function agentSwitches(store: Store): Promise<AgentSwitches> {
  const [signIn, advancedTools] = await Promise.all([configFlag(store, SIGN_IN), configFlag(store, ADVANCED)]);
  return { signIn: flagOf(signIn, SIGN_IN) !== false, advancedTools: flagOf(advancedTools, ADVANCED) === true };
}

const flagOf = (value: JsonObject | null, name: string): JsonValue | undefined => (value ? own(value, name) : undefined);

async function knownUser(store: Store, userId: string): Promise<Known> {
  const ofStore = knownOf.get(store) ?? new LRUCache<string, Known>({ max: REMEMBERED });
  knownOf.set(store, ofStore);
  // Before reading: a write meanwhile is then seen at the next call.
  const rolesAt = store.tableVersion('_Role');
  const before = ofStore.get(userId);
  if (before?.rolesAt === rolesAt) return before;
  const roles = await rolesOf(store, userId);
  const known: Known = before && sameRoles(before.roles, roles) ? { ...before, rolesAt } : { rolesAt, roles, callers: new Map() };
  ofStore.set(userId, known);
  return known;
}
