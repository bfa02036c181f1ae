import type { JsonObject } from '../kernel/json.ts';
import { loginKey } from '../kernel/login-key.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { type RecordContext, readRows, updateRecord } from '../records/index.ts';
import { fieldOf } from '../schema/model.ts';
import { forOperator, oneLine } from './one-line.ts';

/** A user as an operator sees him. */
export interface ListedUser {
  readonly username: string;
  readonly objectId: string;
  readonly state: 'active' | 'blocked';
  /** ISO 8601; `null`: never. */
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

/** All users of a system, by name. */
export async function listUsers({ store }: RecordContext): Promise<ListedUser[]> {
  const rows = await readRows<UserRow>(store, {
    className: '_User',
    fields: ['objectId', 'username', 'active', 'name', 'last_success_login'],
    filter: () => ({ kind: 'always' }),
    orderBy: 'username',
    mostCharacters: Number.POSITIVE_INFINITY,
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
 * Changes a user as the master does: a new password and a block end his sessions.
 * @throws OperatorError where there is no such user, or for what the service refuses
 */
export async function changeUser(context: RecordContext, username: string, change: JsonObject): Promise<void> {
  const [found] = await readRows<UserRow>(context.store, {
    className: '_User',
    fields: ['objectId'],
    filter: (table) => ({ kind: 'in', field: fieldOf(table, '_username_key'), values: [loginKey(username)] }),
    limit: 1,
  });
  if (!found) throw new OperatorError(`there is no user ${JSON.stringify(oneLine(username))}`);
  try {
    await updateRecord(context, '_User', found.objectId, change);
  } catch (error) {
    throw forOperator(error);
  }
}
