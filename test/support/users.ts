/** Helpers of the suites about users: sign-up, login, roles, and refusals. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type Json, pointer, type Refusal, type Store, unique } from './records.ts';
import type { Answer, CallOptions, Service } from './service.ts';
import type { ServiceProcess } from './service-process.ts';

/** Meets the password policy; so does the other one. Reference: users.md#password-policy. */
export const password = 'Right1Pass';
export const otherPassword = 'Other2Pass';
export const wrong = 'Wrong3Pass';

export const badLogin: Refusal = { code: 101, error: 'Invalid username/password.' };
export const notActive: Refusal = { code: 101, error: 'User is not active.' };
/** Directly after the lock, the whole half hour remains. */
export const locked: Refusal = {
  code: 101,
  error: 'Your account is locked due to multiple failed login attempts. Please try again after 30 minute(s)',
};
export const badSession: Refusal = { code: 209, error: 'invalid session token' };
export const captcha: Refusal = { code: 119, error: 'This action is not allowed without a valid CAPTCHA' };
export const badPassword: Refusal = { code: 142, error: 'Password does not meet the Password Policy requirements.' };
export const nameTaken: Refusal = { code: 202, error: 'Account already exists for this username.' };
export const emailTaken: Refusal = { code: 203, error: 'Account already exists for this email address.' };
export const notFound: Refusal = { code: 101, error: 'Object not found.' };
export const denied = (action: string, table: string): Refusal => ({
  code: 119,
  error: `Permission denied for action ${action} on class ${table}`,
});
export const otherUser = (id: string): Refusal => ({ code: 206, error: `Cannot modify user ${id}.` });

/** The form of a session token. Reference: users.md#sessions. */
export const tokenForm = /^r:[0-9a-f]{32}$/;

export interface User {
  id: string;
  username: string;
  /** The session of the sign-up. */
  token: string;
}

type Caller = Pick<Store, 'call'>;

/** Returns a name that no other user has. */
export const newName = (): string => unique('user-');

export const userPointer = (user: { id: string }) => pointer('_User', user.id);

/** Signs a user up with the master key, which must succeed. */
export async function signUp({ call }: Caller, fields: object = {}): Promise<User> {
  const body = { username: newName(), password, ...fields };
  const answer = await call('POST', '/platform/users', { body });
  assert.equal(answer.status, 201, answer.text);
  return { id: answer.body.objectId, username: body.username, token: answer.body.sessionToken };
}

/** Logs in with the application id alone. */
export const login = ({ call }: Caller, credentials: unknown, options: CallOptions = {}): Promise<Answer> =>
  call('POST', '/platform/login', { as: 'anonymous', body: credentials, ...options });

/** Logs in, which must succeed; returns the session token. */
export async function newSession(store: Caller, user: User, options: CallOptions & { password?: string } = {}): Promise<string> {
  const { password: secret = password, ...rest } = options;
  const answer = await login(store, { username: user.username, password: secret }, rest);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.sessionToken;
}

/** Logs in with a wrong password several times, one after another; returns the answers. */
export async function failLogins(store: Caller, username: string, times: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let i = 0; i < times; i++) answers.push(await login(store, { username, password: wrong }));
  return answers;
}

/** Returns the failed logins since the last success, as the master key reads them; 0 if there never were any. */
export async function failedLogins({ call }: Caller, { id }: { id: string }): Promise<number> {
  const { body } = await call('GET', `/platform/users/${id}`);
  return body._failed_login_count ?? 0;
}

export const me = ({ call }: Caller, session: string): Promise<Answer> => call('GET', '/platform/users/me', { session });

/** Returns whether a token is valid; anything but a success or 209 fails the test. */
export async function isAlive(store: Caller, session: string): Promise<boolean> {
  const answer = await me(store, session);
  if (answer.status === 200) return true;
  assert.equal(answer.body?.code, 209, answer.text);
  return false;
}

export const updateUser = ({ call }: Caller, id: string, body: object, options: CallOptions = {}): Promise<Answer> =>
  call('PUT', `/platform/users/${id}`, { ...options, body });

/** Updates a user with the master key, which must succeed. */
export async function changeUser(store: Caller, { id }: { id: string }, body: object): Promise<void> {
  const answer = await updateUser(store, id, body);
  assert.equal(answer.status, 200, answer.text);
}

/** Returns a user's rows of `_Session`, as the master key lists them. */
export async function sessionRows({ call }: Caller, user: { id: string }, where: object = {}): Promise<Json[]> {
  const query = { where: { user: userPointer(user), ...where } };
  const { body, text } = await call('GET', '/platform/sessions', { query });
  assert.ok(Array.isArray(body?.results), text);
  return body.results;
}

/** Returns the operator that changes the members of a Relation. */
export const relate = (__op: 'AddRelation' | 'RemoveRelation', className: string, ids: readonly string[]) => ({
  __op,
  objects: ids.map((id) => pointer(className, id)),
});

/** Adds a user to a role, or removes the user; returns the role's objectId. */
export async function setRole({ call }: Caller, userId: string, name: string, isIn = true): Promise<string> {
  const { body, text } = await call('GET', '/platform/roles', { query: { where: { name } } });
  assert.equal(body.results?.length, 1, text);
  const [{ objectId }] = body.results;
  const users = relate(isIn ? 'AddRelation' : 'RemoveRelation', '_User', [userId]);
  const answer = await call('PUT', `/platform/roles/${objectId}`, { body: { users } });
  assert.equal(answer.status, 200, answer.text);
  return objectId;
}

export interface Role {
  id: string;
  name: string;
}

/** Creates a role with members by id, which must succeed. Returns its objectId. */
export async function makeRole(
  { call }: Caller,
  name: string,
  users: readonly string[],
  roles: readonly string[] = [],
): Promise<string> {
  const body = { name, users: relate('AddRelation', '_User', users), roles: relate('AddRelation', '_Role', roles) };
  const answer = await call('POST', '/platform/roles', { body });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.objectId;
}

/** Creates a role of a new name with these members, which must succeed. */
export async function newRole(store: Caller, users: readonly User[] = [], roles: readonly Role[] = []): Promise<Role> {
  const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);
  const name = unique('Role');
  return { id: await makeRole(store, name, ids(users), ids(roles)), name };
}

/** Adds users to a role that every new system has. */
export async function join({ call }: Caller, name: string, users: readonly User[]): Promise<void> {
  const [role] = (await call('GET', '/platform/roles', { query: { where: { name } } })).body.results;
  const ids = users.map(({ id }) => id);
  const answer = await call('PUT', `/platform/roles/${role.objectId}`, { body: { users: relate('AddRelation', '_User', ids) } });
  assert.equal(answer.status, 200, answer.text);
}

/** Adds users or roles to a role, or removes them. */
export async function changeRole(
  { call }: Caller,
  role: Role,
  change: 'AddRelation' | 'RemoveRelation',
  member: { users?: User; roles?: Role },
): Promise<void> {
  const body = {
    ...(member.users && { users: relate(change, '_User', [member.users.id]) }),
    ...(member.roles && { roles: relate(change, '_Role', [member.roles.id]) }),
  };
  const answer = await call('PUT', `/platform/roles/${role.id}`, { body });
  assert.equal(answer.status, 200, answer.text);
}

/** Creates a table with these class-level permissions; returns its name. */
export async function guardedTable({ call }: Caller, classLevelPermissions: object): Promise<string> {
  const className = unique('T');
  const body = { className, fields: { Name: { type: 'String' } }, classLevelPermissions };
  const answer = await call('POST', `/platform/schemas/${className}`, { body });
  assert.equal(answer.status, 200, answer.text);
  return className;
}

/**
 * Returns the environment that sets the service's clock ahead of the real one, in its worker threads too.
 * @param milliseconds how far ahead
 * @param jump by how much each SIGUSR2 advances the main thread's clock further
 */
export function clockAhead(milliseconds: number, jump = 0): Record<string, string> {
  const script = `const Real = Date;
    let ahead = ${milliseconds};
    if (${jump} > 0) process.on('SIGUSR2', () => { ahead += ${jump}; });
    globalThis.Date = class extends Real {
      constructor(...a) { if (a.length > 0) super(...a); else super(Real.now() + ahead); }
      static now() { return Real.now() + ahead; }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(script).toString('base64')}` };
}

/** Advances the clock of a service that was started with a jump, and waits until a new record's time shows it. */
export async function jumpClock(service: Service, jump: number): Promise<void> {
  const { call, process } = service as ServiceProcess;
  const time = async () => Date.parse((await call('POST', '/platform/classes/ClockTicks', { body: {} })).body.createdAt);
  const before = await time();
  process.kill('SIGUSR2');
  while ((await time()) < before + jump) await wait(20);
}
