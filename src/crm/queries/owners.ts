import { actorId, holdsKey } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { badArguments, unless } from '../refusals.ts';
import { pointer } from '../wire/values.ts';
import { hiddenFields, queryableFields, visibleFields } from './field-visibility.ts';
import { getRow, tableNamed } from './records.ts';

const USERS = '_User';

/** Returns the calling user; `undefined` for a key. */
export function callerId({ principal }: CrmContext): string | undefined {
  return holdsKey(principal) ? undefined : (actorId(principal) ?? undefined);
}

/**
 * Checks that a user exists and may sign in.
 * @param argument the tool's argument, for the error
 * @throws invalidArguments (107); permissionDenied (119) if the caller may not read users
 */
export async function requireUser(context: CrmContext, argument: string, userId: string): Promise<void> {
  if (userId === callerId(context)) return;
  const keys = ['objectId', ...visibleFields(context, tableNamed(context, USERS), ['active'])];
  const user = await unless(['objectNotFound'], null, () => getRow(context, USERS, userId, { keys }));
  if (!user) badArguments(`${argument}: there is no such user`, { next: 'Get-all-Users' });
  if (user.active === false) badArguments(`${argument}: the user is not active`, { next: 'Get-all-Users' });
}

/** A Pointer to a user. */
export const userPointer = (userId: string): JsonObject => pointer(USERS, userId);

/** Returns the fields of a table that name a responsible user. */
export function ownerFields({ fields }: TableSchema): string[] {
  const all = [...fields.values()].filter(({ type, targetClass }) => type === 'Pointer' && targetClass === USERS);
  return all.map(({ name }) => name).filter((name) => name !== 'createdBy' && name !== 'updatedBy');
}

/**
 * Returns the owner field of a table, by default `OwnerId`.
 * @throws invalidArguments (107) if it is not a Pointer to users; fieldDenied (119) if it is hidden from the caller
 */
export function ownerField(context: CrmContext, table: TableSchema, field = 'OwnerId'): string {
  const { className } = table;
  const fields = queryableFields(context, table, ownerFields(table));
  if (fields.includes(field)) return field;
  if (hiddenFields(context, table).has(field)) fail('fieldDenied', field, className);
  return badArguments(`${className} has no Pointer ${field.slice(0, 128)} to users`, {
    expected: fields.length > 0 ? `One of ${fields.join(', ')}` : `${className} has no owner`,
    next: 'Get-Schema',
  });
}
