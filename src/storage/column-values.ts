import { fail } from '../errors/fail.ts';
import { limits } from '../kernel/limits.ts';
import { type Field, fieldOf, type TableSchema } from '../schema/model.ts';
import { type Storage, type StoredValue, storageOf } from '../values/index.ts';
import type { Assignment, Mutation, WritePlan } from './port.ts';

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

type Update = Extract<Mutation, { kind: 'update' }>;

/** Bytes of new texts up to which an update is not held to the size of its record, which is read for that: they add little to it. */
const SMALL_UPDATE_BYTES = 16 * 1024;

/** @throws valueTooLarge (116) where the new values of a record alone are more than a record holds (kernel/limits.ts) */
export function refuseLarge(mutations: readonly Mutation[]): void {
  for (const mutation of mutations) {
    let bytes = 0;
    if (mutation.kind === 'insert') bytes = bytesOf(mutation.values, ([, value]) => value);
    else if (mutation.kind === 'update') bytes = newBytes(mutation);
    if (bytes > limits.recordBytes) fail('valueTooLarge');
  }
}

/** Bytes that an update sets, where its record may outgrow its size by it; `null` where it cannot. Those of operators are not known yet. */
export function growthOf(update: Update): number | null {
  const bytes = newBytes(update);
  return bytes > SMALL_UPDATE_BYTES || update.assignments.some(isEdit) ? bytes : null;
}

const isEdit = ({ kind }: Update['assignments'][number]): boolean => kind === 'edit';

const newBytes = ({ assignments }: Update): number => bytesOf(assignments, newValueOf);

const newValueOf = (assignment: Update['assignments'][number]): StoredValue =>
  assignment.kind === 'set' ? assignment.value : null;

/** Bytes of texts as they are stored. What else a record holds is little. Every write asks: nothing is made for it. */
function bytesOf<T>(items: readonly T[], value: (item: T) => StoredValue): number {
  let characters = 0;
  for (const item of items) characters += lengthOf(value(item));
  // None takes more than three bytes.
  if (characters * 3 <= SMALL_UPDATE_BYTES) return characters;
  let bytes = 0;
  for (const item of items) {
    const text = value(item);
    if (typeof text === 'string') bytes += Buffer.byteLength(text);
  }
  return bytes;
}

const lengthOf = (value: StoredValue): number => (typeof value === 'string' ? value.length : 0);

/** Whether a plan deletes a record. */
export const deletesRecord = ({ mutations }: WritePlan): boolean => mutations.some(({ kind }) => kind === 'delete');
