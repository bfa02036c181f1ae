// Shared by the unit tests of permissions: callers, and tables with the permissions under test.
import { applyChange, emptySchema, type SchemaChange } from '../../schema/change.ts';
import type { ClassLevelPermissions, FieldType, TableSchema } from '../../schema/model.ts';
import { anonymous, invalid, master, type Principal } from '../principal.ts';

export const apiKey: Principal = { kind: 'apiKey', name: 'k' };
export const user = (userId: string, ...roles: string[]): Principal => ({ kind: 'user', userId, roles });

/** By the names in the tables of cases. */
export const callers: ReadonlyMap<string, Principal> = new Map([
  ['master', master],
  ['apiKey', apiKey],
  ['anonymous', anonymous],
  ['invalid', invalid],
  ['u1', user('u1')],
  ['u1 in Sales', user('u1', 'Sales')],
  ['u1 in Sales and Staff', user('u1', 'Sales', 'Staff')],
  ['u2', user('u2')],
]);

const fields: ReadonlyArray<readonly [string, FieldType, string?]> = [
  ['Name', 'String'],
  ['pay', 'Number'],
  ['owner', 'Pointer', '_User'],
  ['team', 'Array'],
  ['friends', 'Relation', '_User'],
];

/** Returns a table with a String, a Number, fields that name users, and these permissions. */
export function tableWith(permissions: ClassLevelPermissions, className = 'T'): TableSchema {
  const changes: SchemaChange[] = [
    { kind: 'createTable', className },
    ...fields.map(
      ([name, type, targetClass]): SchemaChange =>
        targetClass === undefined
          ? { kind: 'addField', className, name, type }
          : { kind: 'addField', className, name, type, targetClass },
    ),
    { kind: 'setPermissions', className, permissions },
  ];
  return changes.reduce(applyChange, emptySchema).tables.get(className) as TableSchema;
}
