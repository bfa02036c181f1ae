import { authorize, type Grant, master, type Principal } from '../../access/index.ts';
import { applyChange, emptySchema, type SchemaChange } from '../../schema/change.ts';
import type { Field, FieldType, Schema, TableSchema } from '../../schema/model.ts';
import type { QueryScope } from '../where/context.ts';

const fields: ReadonlyArray<readonly [className: string, name: string, type: FieldType, targetClass?: string]> = [
  ['Sales', 'Name', 'String'],
  ['Sales', 'Total', 'Number'],
  ['Sales', 'Closed', 'Boolean'],
  ['Sales', 'ClosingDate', 'Date'],
  ['Sales', 'AccountId', 'Pointer', 'Accounts'],
  ['Sales', 'tags', 'Array'],
  ['Sales', 'extra', 'Object'],
  ['Sales', 'Doc', 'File'],
  ['Sales', 'products', 'Relation', 'Products'],
  ['Sales', 'Hidden', 'String'],
  ['Accounts', 'Name', 'String'],
  ['Accounts', 'ParentId', 'Pointer', 'Accounts'],
  ['Accounts', 'sales', 'Relation', 'Sales'],
  ['Products', 'Name', 'String'],
];

const changes: readonly SchemaChange[] = [
  ...['Sales', 'Accounts', 'Products', 'Secrets'].map((className) => ({ kind: 'createTable', className }) as const),
  ...fields.map(
    ([className, name, type, targetClass]): SchemaChange => ({
      kind: 'addField',
      className,
      name,
      type,
      ...(targetClass === undefined ? {} : { targetClass }),
    }),
  ),
  ...['Sales', 'Accounts', 'Products'].map(
    (className): SchemaChange => ({
      kind: 'setPermissions',
      className,
      permissions: { find: { '*': true }, get: { '*': true } },
    }),
  ),
  { kind: 'setTextIndex', className: 'Sales', fields: ['Name'] },
];

/** Sales point at Accounts; Accounts hold Sales in a Relation; only keys may read Secrets. */
export const schema: Schema = changes.reduce(applyChange, emptySchema);
export const user: Principal = { kind: 'user', userId: 'u1', roles: ['Sales'] };
export const scope: QueryScope = { schema, principal: master, now: Date.parse('2024-05-10T12:00:00.000Z') };
export const userScope: QueryScope = { ...scope, principal: user };

export function table(className: string): TableSchema {
  return schema.tables.get(className) as TableSchema;
}

export function field(className: string, name: string): Field {
  return table(className).fields.get(name) as Field;
}

/** `grant` has full rights on Sales; `narrowGrant` hides the field `Hidden`. */
export const grant: Grant = authorize(master, 'find', table('Sales'));
export const narrowGrant: Grant = { ...authorize(user, 'find', table('Sales')), hiddenFields: new Set(['Hidden']) };
