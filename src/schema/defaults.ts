import type { Field, TableSchema } from './model.ts';

const field = (name: string, type: Field['type'], targetClass?: string): [string, Field] => [
  name,
  { name, type, column: name, ...(targetClass === undefined ? {} : { targetClass }) },
];

/** The fields of every table. Reference: records.md#system-fields. */
export const defaultFields: ReadonlyMap<string, Field> = new Map([
  field('objectId', 'String'),
  field('createdAt', 'Date'),
  field('updatedAt', 'Date'),
  field('ACL', 'ACL'),
  field('createdBy', 'Pointer', '_User'),
  field('updatedBy', 'Pointer', '_User'),
]);

/** Returns a table with default fields and empty permissions, as a first write creates it (records.md#new-fields-and-tables). */
export function newTable(className: string, sqlName: string): TableSchema {
  return {
    className,
    sqlName,
    fields: defaultFields,
    permissions: {},
    indexes: new Map(),
    uniqueIndexes: new Map(),
    textIndex: [],
    formerNames: new Map(),
    loggedNames: new Map(),
  };
}
