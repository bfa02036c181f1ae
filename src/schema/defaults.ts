import type { Field, TableSchema } from './model.ts';

const field = (name: string, type: Field['type'], targetClass?: string): [string, Field] => [
  name,
  { name, type, column: name, ...(targetClass === undefined ? {} : { targetClass }) },
];

/** SPEC "Fields on every record". */
export const defaultFields: ReadonlyMap<string, Field> = new Map([
  field('objectId', 'String'),
  field('createdAt', 'Date'),
  field('updatedAt', 'Date'),
  field('ACL', 'ACL'),
  field('createdBy', 'Pointer', '_User'),
  field('updatedBy', 'Pointer', '_User'),
]);

/** A table as raw REST makes it: default fields, empty permissions (SPEC "Schema record"). */
export function newTable(className: string, sqlName: string): TableSchema {
  return { className, sqlName, fields: defaultFields, permissions: {}, indexes: new Map(), textIndex: [] };
}
