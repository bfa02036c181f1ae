import { actorId } from '../access/index.ts';
import type { WriteEvent } from '../records/index.ts';
import type { Field, TableSchema } from '../schema/model.ts';
import { secretFieldsOf } from '../schema/system-tables.ts';
import { columnFields } from '../storage/columns.ts';
import type { StoredValue } from '../values/index.ts';

const known = new WeakMap<TableSchema, readonly Field[]>();

/** A table's fields that are in a picture of its records, secrets left out: one list for as long as the table stays. */
export function picturedFields(table: TableSchema): readonly Field[] {
  let fields = known.get(table);
  if (!fields) {
    const secret = secretFieldsOf(table.className);
    fields = columnFields(table).filter(({ name }) => !secret.has(name));
    known.set(table, fields);
  }
  return fields;
}

/** The values of a record that a create makes, by field, those that are there: its event tells all, unless the rules of its table set others. */
export function createdValues({ table, objectId, at, principal, assignments }: WriteEvent): Map<string, StoredValue> {
  const secret = secretFieldsOf(table.className);
  const actor = actorId(principal);
  const values = new Map<string, StoredValue>([
    ['objectId', objectId],
    ['createdAt', at],
    ['updatedAt', at],
    ['createdBy', actor],
    ['updatedBy', actor],
  ]);
  for (const assignment of assignments.values()) {
    const { field, kind } = assignment;
    if (kind === 'set' && assignment.value !== null && !secret.has(field.name)) values.set(field.name, assignment.value);
  }
  return values;
}
