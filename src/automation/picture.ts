import { actorId } from '../access/index.ts';
import { memoByObject } from '../kernel/memo.ts';
import type { WriteEvent } from '../records/index.ts';
import type { Field, TableSchema } from '../schema/model.ts';
import { secretFieldsOf } from '../schema/system-tables.ts';
import { columnFields } from '../storage/column-values.ts';
import { boundedSnapshot, MAX_SNAPSHOT_VALUE, snapshotLimits } from '../storage/snapshot-limits.ts';
import type { StoredValue } from '../values/index.ts';

/** A table's fields that are in a picture of its records, secrets left out: one list for as long as the table stays. */
export const picturedFields = memoByObject((table: TableSchema): readonly Field[] => {
  const secret = secretFieldsOf(table.className);
  return columnFields(table).filter(({ name }) => !secret.has(name));
});

/**
 * The values of a record that a create makes, by field, those that are there, bounded as in any picture: its event tells all, unless the rules
 * of its table set others.
 */
export function createdValues({ table, objectId, at, principal, assignments, known = {} }: WriteEvent): Map<string, StoredValue> {
  const secret = secretFieldsOf(table.className);
  const actor = actorId(principal);
  const values = new Map<string, StoredValue>([
    ['objectId', objectId],
    ['createdAt', at],
    ['updatedAt', at],
    ['createdBy', actor],
    ['updatedBy', actor],
    ...Object.entries(known),
  ]);
  for (const assignment of assignments.values()) {
    const { field, kind } = assignment;
    if (kind === 'set' && assignment.value !== null && !secret.has(field.name)) values.set(field.name, assignment.value);
  }
  return isShort(values) ? values : bounded(table, values);
}

/** Whether no value is too long, and all of them together are not. */
function isShort(values: ReadonlyMap<string, StoredValue>): boolean {
  let length = 0;
  for (const value of values.values()) if (typeof value === 'string') length += value.length;
  return length <= MAX_SNAPSHOT_VALUE;
}

function bounded(table: TableSchema, values: ReadonlyMap<string, StoredValue>): Map<string, StoredValue> {
  const fields = picturedFields(table);
  const cut = boundedSnapshot(
    snapshotLimits(fields),
    fields.map(({ name }) => values.get(name) ?? null),
  );
  return new Map(fields.flatMap(({ name }, at) => (cut[at] === null ? [] : [[name, cut[at] as StoredValue] as const])));
}
