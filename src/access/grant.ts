import type { TableSchema } from '../schema/model.ts';
import type { ReadableTables } from './readable.ts';

/** Which records of a table the caller may see or change. Engines compile it into the statement. */
export type RowGuard =
  /** The record's ACL is empty or gives `right` to one of the identities (a user id, `role:<Name>`, `*`). */
  | { readonly kind: 'acl'; readonly right: 'read' | 'write'; readonly identities: readonly string[] }
  /** One of these Pointer or Array fields holds the user. */
  | { readonly kind: 'userFields'; readonly fields: readonly string[]; readonly userId: string }
  /** This record alone. */
  | { readonly kind: 'record'; readonly objectId: string }
  /** The text of a field is one of these; `null`: it is absent. */
  | { readonly kind: 'oneOf'; readonly field: string; readonly values: readonly (string | null)[] }
  /** The caller may now read the record that the row is about, and this field of it, if given. */
  | { readonly kind: 'subject'; readonly names: SubjectNames; readonly field?: string; readonly of: ReadableTables }
  /** The caller may now read every value from which values of the row were made; rows without a list of sources were written by hand. */
  | { readonly kind: 'sources'; readonly field: string; readonly of: ReadableTables }
  | { readonly kind: 'all' | 'any'; readonly guards: readonly RowGuard[] }
  /** Every record that the other guard excludes. */
  | { readonly kind: 'not'; readonly guard: RowGuard };

/** The fields of a log row that name the record it is about. */
export interface SubjectNames {
  readonly className: string;
  readonly objectId: string;
}

/** Replaces the value of a field for a caller. Applies wherever the field is named: in conditions, orders and sums too. */
export type Mask =
  /** The value in these rows, absent in others. */
  | { readonly kind: 'visibleIn'; readonly rows: RowGuard }
  /** JSON of values of the record that the row is about, without fields that are hidden from the caller; absent in other rows. */
  | { readonly kind: 'values'; readonly names: SubjectNames; readonly of: ReadableTables; readonly rows: RowGuard | null };

/** Masks by the name of the field. */
export type Masks = ReadonlyMap<string, Mask>;

/** What the authoriser lets a caller do with one table. Only `authorize` creates grants. */
export interface Grant {
  readonly table: TableSchema;
  /** `null`: every record. */
  readonly rows: RowGuard | null;
  /** Fields that do not exist for this caller: not shown, not queried, not ordered by, not written. */
  readonly hiddenFields: ReadonlySet<string>;
  /** Fields with copies of values that may be hidden from the caller. */
  readonly masks: Masks;
  /** Hidden fields that are shown (never queried or written) in some records, with the guard of these records. */
  readonly reveals: ReadonlyMap<string, RowGuard>;
  /** Whether a write may add a column (CLP `addField`). */
  readonly mayAddField: boolean;
  /** A write that adds a column may change these records only; `null`: all that `rows` allows. */
  readonly growthRows: RowGuard | null;
}

/** Returns the guard of the records that both guards allow. */
export function bothOf(a: RowGuard | null, b: RowGuard | null): RowGuard | null {
  if (a === null || b === null) return a ?? b;
  return { kind: 'all', guards: [a, b] };
}

/** Returns the fields that a caller does not see, or sees masked. Needed for records that are not read through the caller's guard. */
export function hiddenFieldsOf({ hiddenFields, masks }: Pick<Grant, 'hiddenFields' | 'masks'>): ReadonlySet<string> {
  return masks.size === 0 ? hiddenFields : new Set([...hiddenFields, ...masks.keys()]);
}
