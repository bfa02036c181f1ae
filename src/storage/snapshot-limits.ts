import { memoByObject } from '../kernel/memo.ts';
import type { Field } from '../schema/model.ts';
import { type StoredValue, storageOf } from '../values/index.ts';

/** Maximum characters of one value in a snapshot. Reference: triggers.md#templates. */
export const MAX_SNAPSHOT_VALUE_CHARS = 500_000;
/** Maximum characters of all values of a snapshot. If they exceed it, each is limited to an equal share. On PostgreSQL these are bytes. */
export const MAX_SNAPSHOT_CHARS = 8_000_000;

/**
 * How a value that is too long is shortened: a text is truncated (`text`), other values are left out (`whole`). An ACL is kept (`kept`), since a
 * record without one would be public.
 */
export type Bounded = 'text' | 'whole' | 'kept';

/** Limits of the values of a snapshot, so that its size never makes a write fail. */
export interface SnapshotLimits {
  /** In the order of the fields; `null`: always short. */
  readonly kinds: readonly (Bounded | null)[];
  /** Characters of each value if all of them exceed `MAX_SNAPSHOT_CHARS`; `null` if they cannot. */
  readonly share: number | null;
}

/** Returns the limits for a list of fields, memoised by the array object. */
export const snapshotLimits = memoByObject((fields: readonly Field[]): SnapshotLimits => {
  const kinds = fields.map((field): Bounded | null => {
    const storage = storageOf(field);
    if (field.type === 'ACL') return 'kept';
    if (storage === 'text') return 'text';
    // A truncated objectId would be another one.
    return storage === 'json' || storage === 'pointer' ? 'whole' : null;
  });
  const count = kinds.filter((kind) => kind === 'text' || kind === 'whole').length;
  return { kinds, share: count * MAX_SNAPSHOT_VALUE_CHARS > MAX_SNAPSHOT_CHARS ? Math.floor(MAX_SNAPSHOT_CHARS / count) : null };
});

/** Applies the limits to the values of a snapshot. @param values in the order of the fields */
export function boundedSnapshot({ kinds, share }: SnapshotLimits, values: readonly StoredValue[]): readonly StoredValue[] {
  const one = cutAll(kinds, values, MAX_SNAPSHOT_VALUE_CHARS);
  return share !== null && lengthOf(one) > MAX_SNAPSHOT_CHARS ? cutAll(kinds, one, share) : one;
}

function cutAll(kinds: SnapshotLimits['kinds'], values: readonly StoredValue[], maxChars: number): readonly StoredValue[] {
  const isLonger = (value: StoredValue) => typeof value === 'string' && value.length > maxChars;
  // The usual case.
  if (!values.some(isLonger)) return values;
  return values.map((value, at) => (isLonger(value) ? cut(kinds[at] ?? null, value as string, maxChars) : value));
}

function cut(kind: Bounded | null, value: string, maxChars: number): string | null {
  if (kind === 'kept') return value;
  if (kind === 'whole') return null;
  // Do not split a surrogate pair.
  const isHalf = /[\ud800-\udbff]/.test(value.charAt(maxChars - 1));
  return value.slice(0, isHalf ? maxChars - 1 : maxChars);
}

function lengthOf(values: readonly StoredValue[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}
