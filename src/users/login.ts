import { fail, ServiceError } from '../errors/fail.ts';
import { newObjectId } from '../kernel/ids.ts';
import type { JsonValue } from '../kernel/json.ts';
import type { Filter } from '../query/filter.ts';
import { readRows } from '../records/index.ts';
import { fieldOf, type Schema, type TableSchema } from '../schema/model.ts';
import type { Assignment, Mutation, Store } from '../storage/port.ts';
import type { StoredValue } from '../values/index.ts';
import { isLocked, LOCK_MINUTES, notLocked } from './lock.ts';
import { loginKey } from './login-key.ts';
import { isPassword } from './passwords/hash.ts';
import { holds, notBlocked, openSession } from './sessions/record.ts';
import { hashToken, newToken } from './sessions/token.ts';

/** What a client signs in with; values as they were sent. */
export interface LoginAttempt {
  readonly username: JsonValue | undefined;
  /** In place of the name. */
  readonly email: JsonValue | undefined;
  readonly password: JsonValue | undefined;
  readonly installationId: string | null;
  /** How long the session is to last. */
  readonly sessionDays: number;
}

/** A user who has signed in. */
export interface LoggedIn {
  readonly userId: string;
  readonly token: string;
}

const always: Filter = { kind: 'always' };

interface UserRow {
  readonly objectId: string;
  readonly password?: string;
  readonly active?: boolean;
  readonly _failed_login_count?: number;
  readonly _last_failed_login?: { readonly iso: string };
}

/**
 * Signs a user in (SPEC "Login and session"; "States and transitions"). The commit that counts an attempt decides whether it counts at
 * all: of many at once, those after the eighth wrong one find the user locked, the right one too. Names that nobody has take as long as
 * wrong passwords.
 * @throws usernameMissing (200), passwordMissing (201), badLogin, accountLocked, userInactive (101)
 */
export async function logIn(store: Store, attempt: LoginAttempt): Promise<LoggedIn> {
  const { name, password } = checkAttempt(attempt);
  const user = await userNamed(store, loginKey(name));
  if (!user) {
    await isPassword(password, undefined);
    return fail('badLogin');
  }
  refuseLocked(user);
  if (await isPassword(password, user.password)) return succeed(store, user, attempt);
  await change(store, user.objectId, (table, at) => ({
    condition: notLocked(table, at),
    increment: '_failed_login_count',
    set: { _last_failed_login: at },
  }));
  return fail('badLogin');
}

/** @throws accountLocked */
function refuseLocked({ _failed_login_count: count = 0, _last_failed_login: failed }: UserRow): void {
  if (isLocked({ count, last: failed ? Date.parse(failed.iso) : null }, Date.now())) fail('accountLocked', LOCK_MINUTES);
}

function checkAttempt({ username, email, password }: LoginAttempt): { name: string; password: string } {
  const name = username ?? email;
  if (name === undefined || name === null || name === '') return fail('usernameMissing');
  if (password === undefined || password === null || password === '') return fail('passwordMissing');
  return typeof name === 'string' && typeof password === 'string' ? { name, password } : fail('badLogin');
}

async function userNamed(store: Store, key: string): Promise<UserRow | undefined> {
  // A name before an address, which may be another user's name.
  const [byName, byEmail] = await Promise.all([userWith(store, '_username_key', key), userWith(store, '_email_key', key)]);
  return byName ?? byEmail;
}

async function userWith(store: Store, field: string, value: string): Promise<UserRow | undefined> {
  const [user] = await readRows<UserRow>(store, {
    className: '_User',
    fields: ['objectId', 'password', 'active', '_failed_login_count', '_last_failed_login'],
    filter: (table) => holds(table, field, value),
    limit: 1,
  });
  return user;
}

/** @throws userInactive; what `change` throws */
async function succeed(store: Store, user: UserRow, { installationId, sessionDays }: LoginAttempt): Promise<LoggedIn> {
  const token = newToken();
  const userId = user.objectId;
  const mayEnter = user.active !== false;
  const open = (schema: Schema, at: number) =>
    openSession(schema, {
      objectId: newObjectId(),
      userId,
      tokenHash: hashToken(token),
      createdWith: { action: 'login', authProvider: 'password' },
      installationId,
      at,
      days: sessionDays,
      actor: userId,
    });
  const stillRight = (table: TableSchema, at: number): Filter => ({
    kind: 'and',
    items: [notLocked(table, at), holds(table, 'password', user.password as string), mayEnter ? notBlocked(table) : always],
  });
  const cleared = { _failed_login_count: 0, _last_failed_login: null };
  if (mayEnter) {
    await change(
      store,
      userId,
      (table, at) => ({ condition: stillRight(table, at), set: { ...cleared, last_success_login: at } }),
      open,
    );
    return { userId, token };
  }
  await change(store, userId, (table, at) => ({ condition: stillRight(table, at), set: cleared }));
  return fail('userInactive');
}

interface UserChange {
  readonly condition: Filter;
  readonly increment?: string;
  readonly set: Readonly<Record<string, StoredValue>>;
}

/**
 * Writes what the service notes of a user: no record of the client's, so neither its stamps nor its observers.
 * @throws accountLocked, badLogin where the condition is not met: others have locked the user meanwhile, or he was removed, blocked or given
 *   another password
 */
async function change(
  store: Store,
  userId: string,
  changeOf: (table: TableSchema, at: number) => UserChange,
  alongside: (schema: Schema, at: number) => Mutation[] = () => [],
): Promise<void> {
  const at = Date.now();
  const write = store.write({
    plan(schema) {
      const table = schema.tables.get('_User') ?? fail('objectNotFound');
      const { condition, increment, set } = changeOf(table, at);
      const assignments = Object.keys(set).map((name): Assignment => {
        return { kind: 'set', field: fieldOf(table, name), value: set[name] as StoredValue };
      });
      if (increment) assignments.push({ kind: 'increment', field: fieldOf(table, increment), amount: 1 });
      const update: Mutation = { kind: 'update', table, objectId: userId, guard: null, condition, assignments, returning: [] };
      return { changes: [], mutations: [update, ...alongside(schema, at)] };
    },
  });
  try {
    await write;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.key !== 'objectNotFound') throw error;
    const now = await userWith(store, 'objectId', userId);
    if (now) refuseLocked(now);
    fail('badLogin');
  }
}
