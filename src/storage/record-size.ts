import { fail } from '../errors/fail.ts';
import { limits } from '../kernel/limits.ts';
import type { StoredValue } from '../values/index.ts';
import type { Mutation } from './port.ts';

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
