import type { TableSchema } from '../schema/model.ts';

/** Which records of a table the caller may see or change. Engines compile it into the statement itself. */
export type RowGuard =
  /** The record's ACL is empty or gives `right` to one of the identities (a user id, `role:<Name>`, `*`). */
  | { readonly kind: 'acl'; readonly right: 'read' | 'write'; readonly identities: readonly string[] }
  /** One of these Pointer or Array fields holds the user. */
  | { readonly kind: 'userFields'; readonly fields: readonly string[]; readonly userId: string }
  | { readonly kind: 'all'; readonly guards: readonly RowGuard[] }
  | { readonly kind: 'nobody' };

/** What the authoriser lets a caller do with one table. Made by `authorize` alone. */
export interface Grant {
  readonly table: TableSchema;
  /** `null`: every record. */
  readonly rows: RowGuard | null;
  /** Fields that do not exist for this caller: not shown, not queried, not ordered by, not written. */
  readonly hiddenFields: ReadonlySet<string>;
  /** Whether a write may add a column (CLP `addField`). */
  readonly mayAddField: boolean;
}
