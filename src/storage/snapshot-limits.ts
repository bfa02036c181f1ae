import type { Field } from '../schema/model.ts';
import { type StoredValue, storageOf } from '../values/index.ts';

/** Characters of a value in a picture (docs/decisions.md "Triggers"). */
export const LONGEST_IN_PICTURE = 500_000;
/** Characters of all values of a picture; where they come to more, each has its share at the most. On PostgreSQL these are bytes. */
export const LONGEST_PICTURE = 8_000_000;

/**
 * What becomes of a value that is longer than it may be: the beginning of a text is kept, others are left out. An ACL is kept whole, since a
 * record without one is everybody's.
 */
export type Bounded = 'text' | 'whole' | 'kept';

/** How the values of a picture are bounded, so that it never keeps a write from being done. */
export interface PictureBounds {
  /** In the order of the fields; `null`: they are short anyway. */
  readonly kinds: readonly (Bounded | null)[];
  /** Characters of each value where all of them come to more than `LONGEST_PICTURE`; `null` where they cannot. */
  readonly share: number | null;
}

const known = new WeakMap<readonly Field[], PictureBounds>();

/** @param fields one list for the same fields: they are remembered by it */
export function pictureBounds(fields: readonly Field[]): PictureBounds {
  let bounds = known.get(fields);
  if (!bounds) {
    const kinds = fields.map((field): Bounded | null => {
      const storage = storageOf(field);
      if (field.type === 'ACL') return 'kept';
      if (storage === 'text') return 'text';
      // Half an objectId is another one.
      return storage === 'json' || storage === 'pointer' ? 'whole' : null;
    });
    const count = kinds.filter((kind) => kind === 'text' || kind === 'whole').length;
    bounds = { kinds, share: count * LONGEST_IN_PICTURE > LONGEST_PICTURE ? Math.floor(LONGEST_PICTURE / count) : null };
    known.set(fields, bounds);
  }
  return bounds;
}

/** The values of a picture as it may hold them. @param values in the order of the bounds' fields */
export function boundedPicture({ kinds, share }: PictureBounds, values: readonly StoredValue[]): readonly StoredValue[] {
  const one = cutAll(kinds, values, LONGEST_IN_PICTURE);
  return share !== null && lengthOf(one) > LONGEST_PICTURE ? cutAll(kinds, one, share) : one;
}

function cutAll(kinds: PictureBounds['kinds'], values: readonly StoredValue[], most: number): readonly StoredValue[] {
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
