import { type Field, fieldOf, type TableSchema } from '../schema/model.ts';
import { type Storage, type StoredValue, storageOf } from '../values/index.ts';
import type { Assignment } from './port.ts';

/** The fields of a table that have a column in it, in order. */
export function columnFields(table: TableSchema): Field[] {
  return [...table.fields.values()].filter(({ type }) => type !== 'Relation');
}

/** What the service itself writes: stored values by field. */
export type OwnValues = Readonly<Record<string, StoredValue>>;

/** The values of an insert. @throws Error for a field that the table has not, which is a fault of ours */
export function columnsOf(table: TableSchema, values: OwnValues): [Field, StoredValue][] {
  return Object.keys(values).map((name) => [fieldOf(table, name), values[name] as StoredValue]);
}

/** The values of an update. @throws Error for a field that the table has not, which is a fault of ours */
export function assignmentsOf(table: TableSchema, values: OwnValues): Assignment[] {
  return columnsOf(table, values).map(([field, value]) => ({ kind: 'set', field, value }));
}

/**
 * The values of a snapshot (`Snapshot`).
 * @param text the JSON array that its column holds
 * @param fields those of the snapshot, in their order
 */
export function snapshotValues(text: string, fields: readonly Field[]): StoredValue[] {
  const values = JSON.parse(text) as StoredValue[];
  return fields.map((field, at) => storedAs(storageOf(field), values[at] ?? null));
}

/** Engines tell numbers and Booleans as such, as 1 and 0, or as text. */
function storedAs(storage: Storage, value: StoredValue): StoredValue {
  if (value === null) return null;
  if (storage === 'number' || storage === 'date') return Number(value);
  return storage === 'boolean' ? value === true || value === 1 || value === 'true' : value;
}
