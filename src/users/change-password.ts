import { fail } from '../errors/fail.ts';
import type { JsonValue } from '../kernel/json.ts';
import { readRow } from '../records/index.ts';
import type { Store } from '../storage/port.ts';
import { unlocked } from './accounts/lockout.ts';
import { holds } from './accounts/user-filters.ts';
import { updateUser } from './accounts/user-update.ts';
import { newConsoleSession } from './console-session.ts';
import { authenticate } from './login.ts';
import { hashPassword, meetsPolicy } from './passwords/password.ts';
import { withoutLink } from './passwords/reset-token.ts';
import { endSessionsOf, openSession } from './sessions/record.ts';
import { hashToken } from './sessions/token.ts';

interface UserRow {
  readonly username?: string;
  readonly password?: string;
}
const userFields = ['username', 'password'] as const;

/** A request to change a password; values as they were sent. */
export interface PasswordChange {
  readonly oldPassword: JsonValue | undefined;
  readonly newPassword: JsonValue | undefined;
  /** The client's network, for rate limiting and fairness. */
  readonly network: string;
}

/**
 * Changes the password of a user who knows the present one. All sessions end in the same commit, and a new one of the console begins.
 * Reference: console.md#sign-in-to-the-console.
 * @returns the token of the new session
 * @throws what `authenticate` throws; passwordPolicy (142), passwordMissing (201)
 */
export async function changePassword(store: Store, userId: string, change: PasswordChange): Promise<string> {
  const { oldPassword, newPassword, network } = change;
  if (typeof newPassword !== 'string' || newPassword === '') return fail('passwordMissing');
  if (!meetsPolicy(newPassword)) return fail('passwordPolicy');
  const user = await readRow<UserRow>(store, '_User', userFields, userId);
  if (user?.username === undefined || user.password === undefined) return fail('invalidSession');
  const { mark } = await authenticate(store, { username: user.username, password: oldPassword, network });
  // Authenticating may have replaced the hash. If its mark differs, the password changed meanwhile, or another user has this name.
  const stored = (await readRow<UserRow>(store, '_User', userFields, userId))?.password;
  if (stored === undefined || mark !== hashToken(stored)) return fail('badLogin');
  const password = await hashPassword({ system: store, caller: network }, newPassword);
  const { token, session } = newConsoleSession();
  const at = Date.now();
  const set = { password, ...withoutLink, ...unlocked, updatedAt: at, updatedBy: userId };
  const isDone = await updateUser(
    store,
    userId,
    (table) => ({ condition: holds(table, 'password', stored), set }),
    (schema) => [...endSessionsOf(schema, userId), ...openSession(schema, session, { userId, actor: userId, at })],
  );
  return isDone ? token : fail('badLogin');
}
