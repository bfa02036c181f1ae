import type { FieldType } from './model.ts';

/** The error for a value that another record has. */
export type DuplicateError = 'usernameTaken' | 'emailTaken' | 'duplicateValue';

/** A String field that is derived from another one: each write of the source sets it too. */
export interface DerivedField {
  readonly field: string;
  /** Returns the derived value of a text; `null` for none. */
  key(text: string): string | null;
}

/** What the service requires of one of its own tables. Reference: docs/reference/system-tables.md. */
export interface SystemTable {
  /** Fields that the service reads and writes itself: they cannot be deleted. */
  readonly kept: readonly string[];
  /**
   * Fields that hold secrets or internal state: they exist for no caller, under any credential. Their columns hold hashes, never a password or a
   * token.
   */
  readonly secret?: readonly string[];
  /** Unique fields, each with the error for a duplicate value. */
  readonly unique?: Readonly<Record<string, DuplicateError>>;
  /** Derived fields by their source field: the service looks records up by them, and each has an index. They are secret. */
  readonly derived?: Readonly<Record<string, DerivedField>>;
  /**
   * Fields that appear when they are first written, with fixed types. Otherwise the first value would decide the type for good, and after a text
   * in `active` no user could be blocked.
   */
  readonly later?: Readonly<Record<string, FieldType>>;
  /** The Pointers that keep the records they point at from being deleted, if not all do: the others are history. */
  readonly guarding?: readonly string[];
  /** Caches depend on its records, so every process is notified of writes to it. Not for tables with many writes. */
  readonly watched?: true;
  /** It exists for no caller, under any credential: internal state of the service. Reference: system-tables.md#hidden-tables. */
  readonly hidden?: true;
  /** Only the service writes it or changes its schema, whatever the credential. Reference: system-tables.md#_adminlog. */
  readonly sealed?: true;
  /** Fields whose values contain queries: keys inside may hold `$` and `.`. */
  readonly queries?: readonly string[];
}
