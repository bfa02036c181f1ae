import { memoByObject } from '../kernel/memo.ts';
import type { Field, FieldType, Schema, TableSchema } from '../schema/model.ts';
import type { Mutation } from '../storage/port.ts';
import type { StoredValue } from '../values/index.ts';
import type { Act } from './act.ts';

/** The table of acts. Reference: system-tables.md#_adminlog. */
export const adminLog = '_AdminLog';

const columns: readonly (readonly [name: string, type: FieldType, columnOf: (act: Act) => StoredValue])[] = [
  ['objectId', 'String', ({ id }) => id],
  ['createdAt', 'Date', ({ at }) => at],
  ['updatedAt', 'Date', ({ at }) => at],
  ['createdBy', 'Pointer', () => 'master'],
  ['updatedBy', 'Pointer', () => 'master'],
  ['act', 'String', ({ act }) => act],
  ['who', 'String', ({ who }) => who],
  ['subject', 'String', ({ subject }) => subject],
  ['before', 'Object', ({ before }) => before && JSON.stringify(before)],
  ['after', 'Object', ({ after }) => after && JSON.stringify(after)],
  ['requestId', 'String', ({ requestId }) => requestId],
];

/** The fields for the columns; `null` if the table lacks one, as in a store that this version has not opened yet. */
const fieldsOf = memoByObject(({ fields }: TableSchema): readonly Field[] | null => {
  const found = columns.flatMap(([name, type]) => {
    const field = fields.get(name);
    return field?.type === type ? [field] : [];
  });
  return found.length === columns.length ? found : null;
});

/** Whether a system can take rows of acts. */
export function takesActs({ tables }: Schema): boolean {
  const table = tables.get(adminLog);
  return table !== undefined && fieldsOf(table) !== null;
}

/** Returns the step that writes the row of an act; none if the system has no such table yet. */
export function insertAct(schema: Schema, act: Act): readonly Mutation[] {
  const table = schema.tables.get(adminLog);
  const fields = table && fieldsOf(table);
  if (!table || !fields) return [];
  const values = columns.map(([, , columnOf], at) => [fields[at] as Field, columnOf(act)] as const);
  return [{ kind: 'insert', table, values }];
}
