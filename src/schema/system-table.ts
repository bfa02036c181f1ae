import type { FieldType } from './model.ts';

/** The error for a value that another record has. */
export type DuplicateError = 'usernameTaken' | 'emailTaken' | 'duplicateValue';

/** A String field that is derived from another one: each write of that one sets it, too. */
export interface DerivedField {
  readonly field: string;
  /** The value that follows from a text; `null` for none. */
  key(text: string): string | null;
}

/** What the service asks of a table of its own (SPEC "`_User`", "`Config`", "Other system tables"). */
export interface SystemTable {
  /** Fields that the service reads and writes itself: nobody may delete them. */
  readonly kept: readonly string[];
  /**
   * Fields that hold secrets, or what the service notes for itself: they exist for nobody, whatever his credential, in no shape. Their
   * columns hold hashes, never a password or a token.
   */
  readonly secret?: readonly string[];
  /** Fields of which no two records have the same value, and the error for the second. */
  readonly unique?: Readonly<Record<string, DuplicateError>>;
  /** By the field that they follow: fields that the service looks records up by, each with an index. They are secret. */
  readonly derived?: Readonly<Record<string, DerivedField>>;
  /**
   * Fields that appear when they are first written, in these types. Their first value would else decide for good, and after an `active`
   * that was a text nobody could be blocked.
   */
  readonly later?: Readonly<Record<string, FieldType>>;
  /** The Pointers that keep the records they point at from being deleted, where not all do: the others tell of what was. */
  readonly guarding?: readonly string[];
  /** What the service remembers is made of its records, so every process has to hear of writes to it. Not for tables of many writes. */
  readonly watched?: true;
  /** It exists for nobody, whatever his credential: the service keeps what it knows there. */
  readonly hidden?: true;
  /** Fields whose values have queries in them: the keys inside may hold `$` and `.`. */
  readonly queries?: readonly string[];
}
