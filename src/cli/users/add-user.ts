import { insertAct, newAct } from '../../acts/index.ts';
import { actorOf } from '../../audit/index.ts';
import { newSecret } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { createRecord, type RecordContext, readRows } from '../../records/index.ts';
import { fieldOf, type Schema, tableOf } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import { meetsPolicy } from '../../users/index.ts';
import { forOperator, oneLine } from '../terminal/format-error.ts';

/** A user to be created. */
export interface NewUser {
  readonly username: string;
  readonly password: string;
  readonly email?: string | undefined;
  /** Display name. */
  readonly name?: string | undefined;
  /** Names of the user's roles. */
  readonly roles: readonly string[];
}

/**
 * Creates a user with roles, in one write.
 * @returns the objectId
 * @throws OperatorError if a role does not exist, or the user is refused: name taken, password too weak
 */
export async function addUser(context: RecordContext, { username, password, email, name, roles }: NewUser): Promise<string> {
  try {
    const found = await findRoles(context, roles);
    const fields = { username, password, ...(email === undefined ? {} : { email }), ...(name === undefined ? {} : { name }) };
    const { objectId } = await createRecord(context, '_User', fields, (schema, userId) =>
      intoRoles(context, schema, found, userId),
    );
    return objectId;
  } catch (error) {
    throw forOperator(error);
  }
}

/** Returns a random password that meets the policy: 20 letters and digits. */
export function newPassword(): string {
  for (;;) {
    const password = newSecret().slice(0, 20);
    if (meetsPolicy(password)) return password;
  }
}

interface Role {
  readonly objectId: string;
  readonly name: string;
}

/** @throws OperatorError if one does not exist */
async function findRoles(context: RecordContext, roles: readonly string[]): Promise<Role[]> {
  if (roles.length === 0) return [];
  const found = await readRows<Role>(context.store, {
    className: '_Role',
    fields: ['objectId', 'name'],
    filter: (table) => ({ kind: 'in', field: fieldOf(table, 'name'), values: roles }),
  });
  for (const role of roles)
    if (!found.some(({ name }) => name === role)) throw new OperatorError(`there is no role ${JSON.stringify(oneLine(role))}`);
  return found;
}

/** Returns the steps that make a user a member of roles, with the rows of the log. */
function intoRoles(context: RecordContext, schema: Schema, roles: readonly Role[], userId: string): Mutation[] {
  const table = tableOf(schema, '_Role');
  const relation = fieldOf(table, 'users');
  return roles.flatMap(({ objectId, name }): Mutation[] => [
    { kind: 'link', table, relation, ownerId: objectId, memberIds: [userId] },
    ...insertAct(
      schema,
      newAct({ act: 'roles', subject: name, before: {}, after: { users: { added: [userId] } } }, actorOf(context)),
    ),
  ]);
}
