import { ADMIN } from '../../access/index.ts';
import { ServiceError } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { loginKey } from '../../kernel/login-key.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { type RecordContext, readRows, updateRecord } from '../../records/index.ts';
import { fieldOf } from '../../schema/model.ts';
import { forOperator, oneLine } from '../terminal/format-error.ts';

/** A user as shown by `user list`. */
export interface ListedUser {
  readonly username: string;
  readonly objectId: string;
  readonly state: 'active' | 'blocked';
  /** ISO 8601; `null` if the user never signed in. */
  readonly lastLogin: string | null;
  readonly name: string | null;
}

interface UserRow {
  readonly objectId: string;
  readonly username?: string;
  readonly active?: boolean;
  readonly name?: string;
  readonly last_success_login?: { readonly iso: string } | string;
}

/** Returns all users of a system by name. */
export async function listUsers({ store }: RecordContext): Promise<ListedUser[]> {
  const rows = await readRows<UserRow>(store, {
    className: '_User',
    fields: ['objectId', 'username', 'active', 'name', 'last_success_login'],
    filter: () => ({ kind: 'always' }),
    orderBy: 'username',
    maxCharacters: Number.POSITIVE_INFINITY,
  });
  return rows.map(({ objectId, username = '', active, name = null, last_success_login: last = null }) => ({
    username,
    objectId,
    state: active === false ? 'blocked' : 'active',
    lastLogin: last === null || typeof last === 'string' ? last : last.iso,
    name,
  }));
}

/**
 * Changes a user with master rights; a new password ends the user's sessions.
 * @throws OperatorError if the user does not exist or the change is refused
 */
export async function changeUser(context: RecordContext, username: string, change: JsonObject): Promise<void> {
  await write(context, await idOf(context, username), change);
}

/**
 * Blocks a user from signing in, which ends their sessions.
 * @param evenLast whether to block the last administrator, after which only keys can administer the system
 * @throws OperatorError if the user does not exist, or is the last administrator
 */
export async function blockUser(context: RecordContext, username: string, evenLast: boolean): Promise<void> {
  const userId = await idOf(context, username);
  try {
    await updateRecord(evenLast ? { ...context, mayRemoveLastAdministrator: true } : context, '_User', userId, { active: false });
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'lastAdministrator')
      throw new OperatorError(`the user is the last active member of ${ADMIN}: --force blocks him all the same`);
    throw forOperator(error);
  }
}

/** @throws OperatorError */
async function idOf({ store }: RecordContext, username: string): Promise<string> {
  const [found] = await readRows<UserRow>(store, {
    className: '_User',
    fields: ['objectId'],
    filter: (table) => ({ kind: 'in', field: fieldOf(table, '_username_key'), values: [loginKey(username)] }),
    limit: 1,
  });
  if (!found) throw new OperatorError(`there is no user ${JSON.stringify(oneLine(username))}`);
  return found.objectId;
}

/** @throws OperatorError for what the service refuses */
async function write(context: RecordContext, userId: string, change: JsonObject): Promise<void> {
  try {
    await updateRecord(context, '_User', userId, change);
  } catch (error) {
    throw forOperator(error);
  }
}
