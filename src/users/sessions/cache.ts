import { LRUCache } from 'lru-cache';
import type { Principal } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { readRows } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { rolesOf, sameRoles } from '../accounts/roles.ts';
import { holds } from '../accounts/user-filters.ts';
import { hashToken, isConsoleToken, isToken } from './token.ts';

/**
 * Sessions that are remembered for each system; any other is read anew, which takes some 30 µs. What is remembered for the tables that a
 * session reads hangs on it: some 2 KB each.
 */
const MAX_REMEMBERED = 2_000;

/** A session in force. */
export interface Session {
  readonly objectId: string;
  readonly principal: Extract<Principal, { kind: 'user' }>;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** A session as of some versions of the tables that it was read from. */
interface Remembered {
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
 * The sessions of one system by token. What is remembered holds for as long as nobody has written to `_Session` and `_Role`, so that a
 * session that was ended and a role that was taken away count at the next request.
 */
export class SessionCache {
  readonly #store: Store;
  readonly #remembered = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED });

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * The session of a token.
   * @param token whatever was sent for one
   * @throws invalidSession (209)
   */
  async sessionOf(token: unknown): Promise<Session> {
    return isToken(token) ? this.#sessionOf(hashToken(token)) : fail('invalidSession');
  }

  /** As `sessionOf`, of the console. */
  async consoleSessionOf(token: unknown): Promise<Session> {
    return isConsoleToken(token) ? this.#sessionOf(hashToken(token)) : fail('invalidSession');
  }

  /** As `sessionOf`, of what is remembered; `null` where the session has to be read. */
  remembered(token: unknown): Session | null {
    return isToken(token) ? this.#fresh(hashToken(token)) : null;
  }

  async #sessionOf(key: string): Promise<Session> {
    return this.#fresh(key) ?? this.#read(key, this.#remembered.get(key)?.session);
  }

  #fresh(key: string): Session | null {
    const known = this.#remembered.get(key);
    if (known?.sessionsAt !== this.#store.tableVersion('_Session')) return null;
    if (known.rolesAt !== this.#store.tableVersion('_Role')) return null;
    return known.session.expiresAt > Date.now() ? known.session : fail('invalidSession');
  }

  async #read(key: string, before: Session | undefined): Promise<Session> {
    // Before reading: a write meanwhile is then seen at the next request.
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
      this.#remembered.delete(key);
      return fail('invalidSession');
    }
    const userId = row.user.objectId;
    const roles = await rolesOf(this.#store, userId);
    // The same object for the same rights: the authoriser remembers what it decided for it.
    const same = before?.principal.userId === userId && sameRoles(before.principal.roles, roles);
    const principal = same ? before.principal : ({ kind: 'user', userId, roles } as const);
    const session = { objectId: row.objectId, principal, createdAt: Date.parse(row.createdAt), expiresAt };
    this.#remembered.set(key, { session, sessionsAt, rolesAt });
    return session;
  }
}

/** The sessions of a store. */
export const sessionsOf = memoByObject((store: Store) => new SessionCache(store));
