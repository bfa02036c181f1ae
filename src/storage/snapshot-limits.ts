import { memoByObject } from '../kernel/memo.ts';
import type { Field } from '../schema/model.ts';
import { type StoredValue, storageOf } from '../values/index.ts';

/** Characters of a value in a snapshot (docs/decisions.md "Triggers"). */
export const MAX_SNAPSHOT_VALUE = 500_000;
/** Characters of all values of a snapshot; where they come to more, each has its share at the most. On PostgreSQL these are bytes. */
export const MAX_SNAPSHOT = 8_000_000;

/**
 * What becomes of a value that is longer than it may be: the beginning of a text is kept, others are left out. An ACL is kept whole, since a
 * record without one is everybody's.
 */
export type Bounded = 'text' | 'whole' | 'kept';

/** How the values of a snapshot are bounded, so that it never keeps a write from being done. */
export interface SnapshotLimits {
  /** In the order of the fields; `null`: they are short anyway. */
  readonly kinds: readonly (Bounded | null)[];
  /** Characters of each value where all of them come to more than `MAX_SNAPSHOT`; `null` where they cannot. */
  readonly share: number | null;
}

/** @param fields one list for the same fields: they are remembered by it */
export const snapshotLimits = memoByObject((fields: readonly Field[]): SnapshotLimits => {
  const kinds = fields.map((field): Bounded | null => {
    const storage = storageOf(field);
    if (field.type === 'ACL') return 'kept';
    if (storage === 'text') return 'text';
    // Half an objectId is another one.
    return storage === 'json' || storage === 'pointer' ? 'whole' : null;
  });
  const count = kinds.filter((kind) => kind === 'text' || kind === 'whole').length;
  return { kinds, share: count * MAX_SNAPSHOT_VALUE > MAX_SNAPSHOT ? Math.floor(MAX_SNAPSHOT / count) : null };
});

/** The values of a snapshot as it may hold them. @param values in the order of the bounds' fields */
export function boundedSnapshot({ kinds, share }: SnapshotLimits, values: readonly StoredValue[]): readonly StoredValue[] {
  const one = cutAll(kinds, values, MAX_SNAPSHOT_VALUE);
  return share !== null && lengthOf(one) > MAX_SNAPSHOT ? cutAll(kinds, one, share) : one;
}

function cutAll(kinds: SnapshotLimits['kinds'], values: readonly StoredValue[], most: number): readonly StoredValue[] {
  const isLonger = (value: StoredValue) => typeof value === 'string' && value.length > most;
  // Nearly always.
  if (!values.some(isLonger)) return values;
  return values.map((value, at) => (isLonger(value) ? cut(kinds[at] ?? null, value as string, most) : value));
}

function cut(kind: Bounded | null, value: string, most: number): string | null {
  if (kind === 'kept') return value;
  if (kind === 'whole') return null;
  // Half a character is none.
  const isHalf = /[\ud800-\udbff]/.test(value.charAt(most - 1));
  return value.slice(0, isHalf ? most - 1 : most);
}

function lengthOf(values: readonly StoredValue[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}
