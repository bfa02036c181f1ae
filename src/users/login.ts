import type { Turn } from '../admission/fair-queue.ts';
import { fail, ServiceError } from '../errors/fail.ts';
import { isStorable, type JsonValue } from '../kernel/json.ts';
import { loginKey } from '../kernel/login-key.ts';
import type { LoginOutcome, Observations } from '../observe/index.ts';
import type { Filter } from '../query/model/filter.ts';
import { readRow, readRows } from '../records/index.ts';
import { type Schema, type TableSchema, tableOf } from '../schema/model.ts';
import { importedHashesField } from '../schema/system-tables.ts';
import type { Mutation, Store } from '../storage/port.ts';
import { isLocked, LOCK_MINUTES, notLocked, unlocked } from './accounts/lockout.ts';
import { holds, notBlocked } from './accounts/user-filters.ts';
import { type UserUpdate, updateUser } from './accounts/user-update.ts';
import { pretendCommit, timed } from './even-time.ts';
import { hashPassword, isImportedHash, isPassword } from './passwords/password.ts';
import { newSession, openSession } from './sessions/record.ts';
import { hashToken } from './sessions/token.ts';

/** Credentials of a sign-in; values as they were sent. */
export interface SignInAttempt {
  readonly username: JsonValue | undefined;
  /** Instead of the name. */
  readonly email?: JsonValue | undefined;
  readonly password: JsonValue | undefined;
  /** The client's network, for fairness between callers. */
  readonly network: string;
  /** Whether the caller has gone: a waiting password is not compared then. */
  readonly isGone?: () => boolean;
  /** Receives the outcome, unless the password is checked for another purpose than a sign-in. */
  readonly observations?: Pick<Observations, 'observe'>;
}

/** A login of a client. */
export interface LoginAttempt extends SignInAttempt {
  readonly installationId: string | null;
  /** Lifetime of the session. */
  readonly sessionDays: number;
}

/** Result of a login. */
export interface LoggedIn {
  readonly userId: string;
  readonly token: string;
}

/** A user whose password was right. */
export interface SignedIn {
  readonly userId: string;
  /** Changes with the password. Reveals nothing about it. */
  readonly mark: string;
}

/** Further steps of the commit that counts a success; pure. */
type Alongside = (schema: Schema, userId: string, at: number) => readonly Mutation[];

interface UserRow {
  readonly objectId: string;
  readonly password?: string;
  readonly active?: boolean;
  readonly _failed_login_count?: number;
  readonly _last_failed_login?: { readonly iso: string };
}

/**
 * Signs a user in, with a session. Reference: users.md#log-in.
 * @throws what `authenticate` throws
 */
export async function logIn(store: Store, attempt: LoginAttempt): Promise<LoggedIn> {
  const { installationId, sessionDays } = attempt;
  const createdWith = { action: 'login', authProvider: 'password' } as const;
  const { token, session } = newSession({ createdWith, installationId, days: sessionDays });
  const { userId } = await authenticate(store, attempt, (schema, userId, at) =>
    openSession(schema, session, { userId, actor: userId, at }),
  );
  return { userId, token };
}

/**
 * Verifies a user's name and password. The commit that counts an attempt decides whether it counts at all: of concurrent attempts all after
 * the eighth wrong one find the user locked, even with the right password. Unknown names take as long as wrong passwords. The sign-in page of
 * agents uses the same check (docs/adr/0014-sign-in.md). Reference: users.md#log-in, users.md#account-lockout.
 * @throws usernameMissing (200), passwordMissing (201), badLogin, accountLocked, userInactive (101), unavailable (503)
 */
export async function authenticate(store: Store, attempt: SignInAttempt, alongside: Alongside = () => []): Promise<SignedIn> {
  const observe = (outcome: LoginOutcome) => attempt.observations?.observe({ kind: 'login', outcome });
  try {
    const signedIn = await checkAndAdmit(store, attempt, alongside);
    observe('success');
    return signedIn;
  } catch (error) {
    observe((error instanceof ServiceError && refusals.get(error.key)) || 'failed');
    throw error;
  }
}

const refusals: ReadonlyMap<string, LoginOutcome> = new Map([
  ['usernameMissing', 'refused'],
  ['passwordMissing', 'refused'],
  ['badLogin', 'refused'],
  ['accountLocked', 'locked'],
  ['userInactive', 'blocked'],
]);

async function checkAndAdmit(store: Store, attempt: SignInAttempt, alongside: Alongside): Promise<SignedIn> {
  const { name, isAddress, password } = checkAttempt(attempt);
  const turn = { system: store, caller: attempt.network, isGone: attempt.isGone ?? (() => false) };
  const find = () => userNamed(store, loginKey(name), isAddress);
  const user = await find();
  if (user?.password === undefined || !isImportedHash(user.password))
    return admitOrFail(store, { user, password, turn }, alongside);
  try {
    return await admitOrFail(store, { user, password, turn }, alongside);
  } catch (error) {
    // A concurrent login may have replaced the hash that the password was compared with.
    const now = error instanceof ServiceError && error.key === 'badLogin' ? await find() : undefined;
    if (!now || now.objectId !== user.objectId || now.password === user.password) throw error;
    return admitOrFail(store, { user: now, password, turn }, alongside);
  }
}

/** The named user, if there is one, and the password to compare. */
interface Comparison {
  readonly user: UserRow | undefined;
  readonly password: string;
  readonly turn: Turn;
}

async function admitOrFail(store: Store, { user, password, turn }: Comparison, alongside: Alongside): Promise<SignedIn> {
  const hasImported = tableOf(store.schema(), '_User').fields.has(importedHashesField);
  if (!user) {
    await isPassword(turn, password, undefined, hasImported);
    await pretendCommit(store);
    return fail('badLogin');
  }
  refuseLocked(user);
  if (await isPassword(turn, password, user.password, hasImported)) {
    if (user.active === false) return turnAway(store, user);
    // Replaces a hash of another service now that the password is known.
    const isOld = user.password !== undefined && isImportedHash(user.password);
    return enter(store, user, alongside, isOld ? await hashPassword(turn, password) : undefined);
  }
  await recordAttempt(store, user.objectId, (table, at) => ({
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

interface Named {
  readonly name: string;
  /** Whether it was sent as the e-mail address. */
  readonly isAddress: boolean;
  readonly password: string;
}

function checkAttempt({ username, email, password }: SignInAttempt): Named {
  const isAddress = username === undefined || username === null;
  const name = isAddress ? email : username;
  if (name === undefined || name === null || name === '') return fail('usernameMissing');
  if (password === undefined || password === null || password === '') return fail('passwordMissing');
  return typeof name === 'string' && typeof password === 'string' ? { name, isAddress, password } : fail('badLogin');
}

/** A value sent as a name is looked up as a name first, then as an address, and the other way round: one user's name may be another's address. */
async function userNamed(store: Store, key: string, isAddress: boolean): Promise<UserRow | undefined> {
  // No record holds such a text, and not every store can be queried for it.
  if (!isStorable(key)) return undefined;
  const [byName, byEmail] = await Promise.all([userWith(store, '_username_key', key), userWith(store, '_email_key', key)]);
  return isAddress ? (byEmail ?? byName) : (byName ?? byEmail);
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

/** Condition that the user is unchanged since the password was compared. */
const asCompared = (user: UserRow, table: TableSchema, at: number): Filter[] => [
  notLocked(table, at),
  holds(table, 'password', user.password as string),
];

/** @param replacement another hash of the same password, to be stored instead @throws what `recordAttempt` throws */
async function enter(store: Store, user: UserRow, alongside: Alongside, replacement: string | undefined): Promise<SignedIn> {
  const userId = user.objectId;
  await recordAttempt(
    store,
    userId,
    (table, at) => ({
      condition: { kind: 'and', items: [...asCompared(user, table, at), notBlocked(table)] },
      set: { ...unlocked, last_success_login: at, ...(replacement !== undefined && { password: replacement }) },
    }),
    (schema, at) => alongside(schema, userId, at),
  );
  return { userId, mark: hashToken(replacement ?? (user.password as string)) };
}

const markFields = ['active', 'password'] as const;

/** Returns the present mark of `SignedIn`; `null` if the user is gone, blocked or has no password. */
export async function markOf(store: Store, userId: string): Promise<string | null> {
  const user = await readRow<Pick<UserRow, 'active' | 'password'>>(store, '_User', markFields, userId);
  return user?.password === undefined || user.active === false ? null : hashToken(user.password);
}

/** Refuses a blocked user, only now that the password was right. @throws userInactive; what `recordAttempt` throws */
async function turnAway(store: Store, user: UserRow): Promise<never> {
  await recordAttempt(store, user.objectId, (table, at) => ({
    condition: { kind: 'and', items: asCompared(user, table, at) },
    set: unlocked,
  }));
  return fail('userInactive');
}

/**
 * Records the result of an attempt.
 * @throws accountLocked, badLogin if the condition does not hold: the user was locked, removed, blocked or given another password meanwhile
 */
async function recordAttempt(
  store: Store,
  userId: string,
  updateOf: (table: TableSchema, at: number) => UserUpdate,
  alongside: (schema: Schema, at: number) => readonly Mutation[] = () => [],
): Promise<void> {
  const at = Date.now();
  const isNoted = await timed(store, () =>
    updateUser(
      store,
      userId,
      (table) => updateOf(table, at),
      (schema) => alongside(schema, at),
    ),
  );
  if (isNoted) return;
  const now = await userWith(store, 'objectId', userId);
  if (now) refuseLocked(now);
  fail('badLogin');
}
