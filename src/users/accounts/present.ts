import { LRUCache } from 'lru-cache';
import type { Principal } from '../../access/index.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { readRow } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { rolesOf, sameRoles } from './roles.ts';

export type UserPrincipal = Extract<Principal, { kind: 'user' }>;

/** So many callers of a system are remembered, for what the authoriser hangs on them. */
const MAX_REMEMBERED = 1_000;

/** The roles of a user as of a version of `_Role`, and the callers that were made of him since they are these. */
interface Known {
  readonly rolesAt: number;
  readonly roles: readonly string[];
  readonly callers: Map<string, UserPrincipal>;
}

const knownIn = memoByObject<Store, LRUCache<string, Known>>(() => new LRUCache({ max: MAX_REMEMBERED }));

/**
 * A user as a caller, with his present roles: the same object for as long as they stay, since the authoriser remembers what it decided for it.
 * @param key what tells callers of one user apart
 * @param make of the roles, where there is none of the key yet
 */
export async function callerOf(
  store: Store,
  userId: string,
  key: string,
  make: (roles: readonly string[]) => UserPrincipal,
): Promise<UserPrincipal> {
  const { callers, roles } = await knownUser(store, userId);
  let caller = callers.get(key);
  if (!caller) {
    caller = make(roles);
    callers.set(key, caller);
  }
  return caller;
}

/** `active` appears when it is first written. */
const fields = ['objectId', 'active'] as const;

/**
 * A user as he is now, with the rights of a session of his; `null` where he is gone or not active.
 * @throws unavailable, timeout
 */
export async function presentUser(store: Store, userId: string): Promise<UserPrincipal | null> {
  const user = await readRow<{ active?: boolean }>(store, '_User', fields, userId);
  return !user || user.active === false ? null : userCaller(store, userId);
}

/** A user with the rights that his roles have now, whether he is active or not. @throws unavailable, timeout */
export const userCaller = (store: Store, userId: string): Promise<UserPrincipal> =>
  callerOf(store, userId, '', (roles) => ({ kind: 'user', userId, roles }));

async function knownUser(store: Store, userId: string): Promise<Known> {
  const ofStore = knownIn(store);
  // Before reading: a write meanwhile is then seen at the next call.
  const rolesAt = store.tableVersion('_Role');
  const before = ofStore.get(userId);
  if (before?.rolesAt === rolesAt) return before;
  const roles = await rolesOf(store, userId);
  const known: Known = before && sameRoles(before.roles, roles) ? { ...before, rolesAt } : { rolesAt, roles, callers: new Map() };
  ofStore.set(userId, known);
  return known;
}
