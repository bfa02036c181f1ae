import { errorOfItem, serviceError } from '../errors/fail.ts';
import { limits } from '../kernel/limits.ts';
import { type Field, fieldOf, type TableSchema } from '../schema/model.ts';
import { type Storage, type StoredValue, storageOf } from '../values/index.ts';
import type { Assignment, Mutation, WritePlan } from './port.ts';

/** Returns the fields of a table that are stored in a column of it, in schema order. Relations have join tables instead. */
export function columnFields(table: TableSchema): Field[] {
  return [...table.fields.values()].filter(({ type }) => type !== 'Relation');
}

/** Values that the service itself writes: stored values by field name. */
export type OwnValues = Readonly<Record<string, StoredValue>>;

/** Returns the column values of an insert. @throws Error for a field that the table does not have, which is a programming error */
export function columnsOf(table: TableSchema, values: OwnValues): [Field, StoredValue][] {
  return Object.keys(values).map((name) => [fieldOf(table, name), values[name] as StoredValue]);
}

/**
 * Replaces the values of columns, or adds them.
 * @param columns as `columnsOf` returns them
 * @param values left out: none
 */
export function setColumns(columns: [Field, StoredValue][], table: TableSchema, values: OwnValues | undefined): void {
  if (values === undefined) return;
  for (const [field, value] of columnsOf(table, values)) {
    const known = columns.find(([one]) => one === field);
    if (known) known[1] = value;
    else columns.push([field, value]);
  }
}

/** Returns the assignments of an update. @throws Error for a field that the table does not have, which is a programming error */
export function assignmentsOf(table: TableSchema, values: OwnValues): Assignment[] {
  return columnsOf(table, values).map(([field, value]) => ({ kind: 'set', field, value }));
}

/**
 * Parses the values of a snapshot (`Snapshot`).
 * @param text the JSON array that its column holds
 * @param fields the fields of the snapshot, in their order
 */
export function snapshotValues(text: string, fields: readonly Field[]): StoredValue[] {
  const values = JSON.parse(text) as StoredValue[];
  return fields.map((field, at) => storedAs(storageOf(field), values[at] ?? null));
}

/** Engines return numbers and Booleans as such, as 1 and 0, or as text. */
function storedAs(storage: Storage, value: StoredValue): StoredValue {
  if (value === null) return null;
  if (storage === 'number' || storage === 'date') return Number(value);
  return storage === 'boolean' ? value === true || value === 1 || value === 'true' : value;
}

type Update = Extract<Mutation, { kind: 'update' }>;

/** Updates with at most this many bytes of new text skip the record size check, which has to read the record: they add little to it. */
const SMALL_UPDATE_BYTES = 16 * 1024;

/** Rejects writes whose new values alone exceed the size limit of a record. Reference: records.md#size-of-a-record. @throws valueTooLarge (116) */
export function refuseLarge(mutations: readonly Mutation[]): void {
  for (const mutation of mutations) {
    let bytes = 0;
    if (mutation.kind === 'insert') bytes = bytesOf(mutation.values, ([, value]) => value);
    else if (mutation.kind === 'update') bytes = newBytes(mutation);
    if (bytes > limits.recordBytes) throw errorOfItem(serviceError('valueTooLarge'), mutation.item);
  }
}

/**
 * Returns the bytes that an update sets if its record may exceed the size limit by it; `null` if it cannot. Results of operators are not counted:
 * they are not known yet.
 */
export function growthOf(update: Update): number | null {
  const bytes = newBytes(update);
  return bytes > SMALL_UPDATE_BYTES || update.assignments.some(isEdit) ? bytes : null;
}

/** Whether an assignment applies operators to a json column. */
export const isEdit = (assignment: Assignment): assignment is Extract<Assignment, { kind: 'edit' }> => assignment.kind === 'edit';

const newBytes = ({ assignments }: Update): number => bytesOf(assignments, newValueOf);

const newValueOf = (assignment: Update['assignments'][number]): StoredValue =>
  assignment.kind === 'set' ? assignment.value : null;

/** Returns the bytes of the texts as stored; other values are negligible. Runs for every write, so it allocates nothing. */
function bytesOf<T>(items: readonly T[], value: (item: T) => StoredValue): number {
  let characters = 0;
  for (const item of items) characters += lengthOf(value(item));
  // A character takes at most three bytes.
  if (characters * 3 <= SMALL_UPDATE_BYTES) return characters;
  let bytes = 0;
  for (const item of items) {
    const text = value(item);
    if (typeof text === 'string') bytes += Buffer.byteLength(text);
  }
  return bytes;
}

const lengthOf = (value: StoredValue): number => (typeof value === 'string' ? value.length : 0);

/** Returns whether a plan deletes a record. */
export const deletesRecord = ({ mutations }: WritePlan): boolean => mutations.some(({ kind }) => kind === 'delete');

/** Returns the number of characters of the values that a write assigns. */
export function textLength({ mutations }: WritePlan): number {
  let text = 0;
  const count = (value: unknown) => {
    if (typeof value === 'string') text += value.length;
  };
  for (const mutation of mutations)
    if (mutation.kind === 'insert') for (const [, value] of mutation.values) count(value);
    else if (mutation.kind === 'update') for (const one of mutation.assignments) if (one.kind === 'set') count(one.value);
  return text;
}

/** Whether a step edits json columns: what they are now has to be read and parsed first. */
export function isEdited(mutation: Mutation): mutation is Update {
  return mutation.kind === 'update' && mutation.assignments.some(isEdit);
}

/** Whether a write has such a step. */
export function hasEdits({ mutations }: WritePlan): boolean {
  return mutations.some(isEdited);
}
