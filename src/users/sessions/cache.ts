import { LRUCache } from 'lru-cache';
import type { Principal } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { readRows } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { rolesOf, sameRoles } from '../accounts/roles.ts';
import { holds } from '../accounts/user-filters.ts';
import { hashToken, isConsoleToken, isToken } from './token.ts';

/** Maximum number of sessions cached per system; reading any other takes some 30 µs. Each keeps about 2 KB alive: the grants of its tables. */
const MAX_CACHED_SESSIONS = 2_000;

/** A valid session. */
export interface Session {
  readonly objectId: string;
  readonly principal: Extract<Principal, { kind: 'user' }>;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** A session as of the versions of the tables it was read from. */
interface CachedSession {
  readonly session: Session;
  readonly sessionsAt: number;
  readonly rolesAt: number;
}

interface SessionRow {
  readonly objectId: string;
  readonly createdAt: string;
  readonly user?: { readonly objectId: string };
  readonly expiresAt?: { readonly iso: string };
}

/**
 * The sessions of one system by token. A cached session is valid until `_Session` or `_Role` is written to, so that an ended session and a
 * withdrawn role count at the next request. Reference: users.md#sessions.
 */
export class SessionCache {
  readonly #store: Store;
  readonly #cached = new LRUCache<string, CachedSession>({ max: MAX_CACHED_SESSIONS });

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Returns the session of a token.
   * @param token any value that was sent as one
   * @throws invalidSession (209)
   */
  async sessionOf(token: unknown): Promise<Session> {
    return isToken(token) ? this.#sessionOf(hashToken(token)) : fail('invalidSession');
  }

  /** As `sessionOf`, for sessions of the console. */
  async consoleSessionOf(token: unknown): Promise<Session> {
    return isConsoleToken(token) ? this.#sessionOf(hashToken(token)) : fail('invalidSession');
  }

  /** As `sessionOf`, from the cache only; `null` if the session has to be read. */
  cached(token: unknown): Session | null {
    return isToken(token) ? this.#fresh(hashToken(token)) : null;
  }

  async #sessionOf(key: string): Promise<Session> {
    return this.#fresh(key) ?? this.#read(key, this.#cached.get(key)?.session);
  }

  #fresh(key: string): Session | null {
    const known = this.#cached.get(key);
    if (known?.sessionsAt !== this.#store.tableVersion('_Session')) return null;
    if (known.rolesAt !== this.#store.tableVersion('_Role')) return null;
    return known.session.expiresAt > Date.now() ? known.session : fail('invalidSession');
  }

  async #read(key: string, before: Session | undefined): Promise<Session> {
    // Taken before reading, so that a concurrent write is noticed at the next request.
    const sessionsAt = this.#store.tableVersion('_Session');
    const rolesAt = this.#store.tableVersion('_Role');
    const [row] = await readRows<SessionRow>(this.#store, {
      className: '_Session',
      fields: ['objectId', 'createdAt', 'user', 'expiresAt'],
      filter: (table) => holds(table, 'sessionToken', key),
      limit: 1,
    });
    const expiresAt = Date.parse(row?.expiresAt?.iso ?? '');
    if (!row?.user || !(expiresAt > Date.now())) {
      this.#cached.delete(key);
      return fail('invalidSession');
    }
    const userId = row.user.objectId;
    const roles = await rolesOf(this.#store, userId);
    // Keeps the object for unchanged rights, because the authoriser caches grants by it.
    const same = before?.principal.userId === userId && sameRoles(before.principal.roles, roles);
    const principal = same ? before.principal : ({ kind: 'user', userId, roles } as const);
    const session = { objectId: row.objectId, principal, createdAt: Date.parse(row.createdAt), expiresAt };
    this.#cached.set(key, { session, sessionsAt, rolesAt });
    return session;
  }
}

/** Returns the session cache of a store. */
export const sessionsOf = memoByObject((store: Store) => new SessionCache(store));
