import type { TableSchema } from '../schema/model.ts';

/** Which records of a table the caller may see or change. Engines compile it into the statement itself. */
export type RowGuard =
  /** The record's ACL is empty or gives `right` to one of the identities (a user id, `role:<Name>`, `*`). */
  | { readonly kind: 'acl'; readonly right: 'read' | 'write'; readonly identities: readonly string[] }
  /** One of these Pointer or Array fields holds the user. */
  | { readonly kind: 'userFields'; readonly fields: readonly string[]; readonly userId: string }
  /** This record alone. */
  | { readonly kind: 'record'; readonly objectId: string }
  | { readonly kind: 'all' | 'any'; readonly guards: readonly RowGuard[] }
  /** Every record that the other guard has not. */
  | { readonly kind: 'not'; readonly guard: RowGuard };

/** What the authoriser lets a caller do with one table. Made by `authorize` alone. */
export interface Grant {
  readonly table: TableSchema;
  /** `null`: every record. */
  readonly rows: RowGuard | null;
  /** Fields that do not exist for this caller: not shown, not queried, not ordered by, not written. */
  readonly hiddenFields: ReadonlySet<string>;
  /** Hidden fields that are shown all the same, never queried or written, in some records: in these. */
  readonly reveals: ReadonlyMap<string, RowGuard>;
  /** Whether a write may add a column (CLP `addField`). */
  readonly mayAddField: boolean;
  /** A write that adds a column may change these records only; `null`: all that `rows` has. */
  readonly growthRows: RowGuard | null;
}

/** The records that both guards have. */
export function bothOf(a: RowGuard | null, b: RowGuard | null): RowGuard | null {
  if (a === null || b === null) return a ?? b;
  return { kind: 'all', guards: [a, b] };
}
