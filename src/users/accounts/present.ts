import { LRUCache } from 'lru-cache';
import type { Principal } from '../../access/index.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { readRow } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { rolesOf, sameRoles } from './roles.ts';

export type UserPrincipal = Extract<Principal, { kind: 'user' }>;

/** Maximum number of users cached per system, since the authoriser caches grants by caller. */
const MAX_CACHED_USERS = 1_000;

/** The roles of a user as of a version of `_Role`, and the caller objects created for these roles. */
interface CachedUser {
  readonly rolesAt: number;
  readonly roles: readonly string[];
  readonly callers: Map<string, UserPrincipal>;
}

const cachedUsersOf = memoByObject<Store, LRUCache<string, CachedUser>>(() => new LRUCache({ max: MAX_CACHED_USERS }));

/**
 * Returns a user as a caller, with the present roles: the same object as long as they stay, since the authoriser caches grants by it.
 * @param key distinguishes callers of one user
 * @param make creates the caller if there is none for the key
 */
export async function callerOf(
  store: Store,
  userId: string,
  key: string,
  make: (roles: readonly string[]) => UserPrincipal,
): Promise<UserPrincipal> {
  const { callers, roles } = await cachedUser(store, userId);
  let caller = callers.get(key);
  if (!caller) {
    caller = make(roles);
    callers.set(key, caller);
  }
  return caller;
}

/** `active` is added to the table when it is first written. */
const fields = ['objectId', 'active'] as const;

/**
 * Returns a user with the rights of a session now; `null` if the user is gone or not active.
 * @throws unavailable, timeout
 */
export async function presentUser(store: Store, userId: string): Promise<UserPrincipal | null> {
  const user = await readRow<{ active?: boolean }>(store, '_User', fields, userId);
  return !user || user.active === false ? null : userCaller(store, userId);
}

/** Returns a user with the rights of its present roles, whether active or not. @throws unavailable, timeout */
export const userCaller = (store: Store, userId: string): Promise<UserPrincipal> =>
  callerOf(store, userId, '', (roles) => ({ kind: 'user', userId, roles }));

async function cachedUser(store: Store, userId: string): Promise<CachedUser> {
  const ofStore = cachedUsersOf(store);
  // Taken before reading, so that a concurrent write is noticed at the next call.
  const rolesAt = store.tableVersion('_Role');
  const before = ofStore.get(userId);
  if (before?.rolesAt === rolesAt) return before;
  const roles = await rolesOf(store, userId);
  const known: CachedUser =
    before && sameRoles(before.roles, roles) ? { ...before, rolesAt } : { rolesAt, roles, callers: new Map() };
  ofStore.set(userId, known);
  return known;
}
