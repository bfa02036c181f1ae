import type { Comparison, FieldRef, JsonOperand, Regex, SoughtWords, TextSearch } from '../../query/model/filter.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import type { JsonEdit } from '../../values/operators/apply.ts';
import type { Storage, StoredValue } from '../../values/types/type.ts';

/** Comparisons as SQL writes them, between two operands. */
export const comparisonSigns: Readonly<Record<Comparison, string>> = {
  eq: ' = ',
  lt: ' < ',
  lte: ' <= ',
  gt: ' > ',
  gte: ' >= ',
};

/** A column beside a field's, made of the same value. */
export interface Companion {
  readonly column: string;
  /** Its value for a value of the field. */
  of(value: StoredValue): StoredValue;
}

/** SQL in the making, as dialects see it: text and the values bound so far. */
export interface SqlOut {
  add(sql: string): this;
  /** A table of the system. */
  table(sqlName: string): this;
  /** An identifier of the schema, quoted. */
  name(identifier: string): this;
  /** A quoted column of a table alias. */
  column(alias: string, column: string): this;
  /** A placeholder, its value noted. */
  bind(value: StoredValue): this;
  /** The same as text, for an expression that is put together first. It may stand more than once where placeholders have numbers. */
  parameter(value: StoredValue): string;
}

/**
 * What differs between SQLite and PostgreSQL. Methods that take `out` write one SQL expression, in parentheses where it needs them.
 * Predicates may come out true, false or NULL; only true counts. Texts never depend on values: lists are bound as one parameter.
 */
export interface Dialect {
  /** An identifier of the schema in quotes, made to fit the bounds that the database has. */
  quoted(identifier: string): string;
  /** A table of the system, quoted, with whatever says which system's it is. */
  table(sqlName: string): string;
  /** What LIMIT is bound to where there is none; OFFSET needs one in some databases. */
  readonly noLimit: number | null;
  /** The column that has to be written along with a field's, for the database to search it; `null` for most fields. */
  companion(table: TableSchema, field: Field): Companion | null;
  /** The placeholder of the n-th parameter, from 1. */
  placeholder(n: number): string;
  /** The form of a stored value that the driver binds to a column. */
  toColumn(storage: Storage, value: StoredValue): StoredValue;
  /** What follows a term of ORDER BY that may be absent, so that absent values come first ascending and last descending. */
  nulls(descending: boolean): string;
  /** Stands before a column by which rows are sorted that are not to be read in the order of its index: most of a table, record by record. */
  readonly unindexed: string;
  /** Always true, or the end of a statement that has run for too long; stands first in the WHERE of a scan. */
  mayGoOn(out: SqlOut, alias: string): void;
  /** Writes what comes before a condition whose time depends on the length of a value, in such a statement: it asks where that is long. */
  mayGoOnWith(out: SqlOut, alias: string, column: string): void;

  /** How many bytes the text of a column takes. */
  byteLength(out: SqlOut, alias: string, field: Field): void;

  /** What a list is bound as, which is one parameter. */
  list(values: readonly StoredValue[]): StoredValue;
  /** `<operand> IN <list>`; `operand` writes the left side. */
  isMember(out: SqlOut, operand: () => void, values: readonly StoredValue[], storage: Storage): void;
  /**
   * Whether a text column has the value, where the order is the column's first: an index of that order is gone through, however common the
   * value is.
   */
  isOnly(out: SqlOut, alias: string, field: Field, value: StoredValue): void;
  /**
   * Whether an operand is among the rows of a query that does not depend on it, where planners do not make a join of it.
   * `operand` and `query` write both sides.
   */
  isAmong(out: SqlOut, operand: () => void, query: () => void): void;
  /** A row source with the column `value`: one row for each string of a JSON array. */
  listRows(out: SqlOut, json: string): void;

  /** Whether a text expression, which binds nothing, matches. */
  textMatches(out: SqlOut, expression: string, regex: Regex): void;
  /** Whether a full-text search finds the record. */
  search(out: SqlOut, alias: string, table: TableSchema, search: TextSearch): void;
  /**
   * The relevance of the record, higher for better; NULL where the search does not find it.
   * @param alone by the record's own words, whatever other records hold
   */
  score(out: SqlOut, alias: string, table: TableSchema, search: TextSearch, alone: boolean): void;

  /**
   * Whether the record is one of those that a search index finds (`Filter`, `candidates`).
   * @param restrict writes further conditions on a record, ` AND ` before them, under an alias of the table
   */
  candidates(out: SqlOut, alias: string, table: TableSchema, sought: SoughtWords, restrict: (alias: string) => void): void;

  /** Whether there is a value other than null at a place inside a json column. */
  jsonExists(out: SqlOut, alias: string, ref: FieldRef): void;
  /** The value at the place, compared with one of the same JSON type. */
  jsonCompare(out: SqlOut, alias: string, ref: FieldRef, op: Comparison, operand: JsonOperand): void;
  /** Whether the array at the place has an element for `any` or `all` of the operands, or elements of `only` these. */
  jsonHas(
    out: SqlOut,
    alias: string,
    ref: FieldRef,
    which: 'any' | 'all' | 'only',
    operands: readonly (JsonOperand | Regex)[],
  ): void;
  /** Whether the place holds a Pointer to the class, or an array with one, its id among the rows of the sub-query that `ids` writes. */
  jsonPointsInto(out: SqlOut, alias: string, ref: FieldRef, className: string, ids: () => void): void;
  /** Whether the array at the place has an element in this order to an operand of its type. */
  jsonHasOrdered(out: SqlOut, alias: string, ref: FieldRef, op: Comparison, operand: JsonOperand): void;
  /** Whether the text at the place, or a text in the array there, matches. */
  jsonMatches(out: SqlOut, alias: string, ref: FieldRef, regex: Regex): void;
  /** What a place is sorted by. */
  jsonOrder(out: SqlOut, alias: string, ref: FieldRef): void;
  /** Canonical JSON text of the wire value of a field or a place; NULL where absent. Compares values of unlike columns. */
  wireText(out: SqlOut, alias: string, ref: FieldRef): void;
  /** A row source with the column `value`: the wire text of a place in a json column, and of its elements where it is an array. */
  wireTexts(out: SqlOut, alias: string, ref: FieldRef): void;
  /** Whether an ACL column is empty or gives a right to one of the identities. */
  aclAllows(out: SqlOut, alias: string, column: string, right: 'read' | 'write', identities: readonly string[]): void;
  /** A row source with columns of these names: one row for each array of a JSON array of arrays in a text column, its elements as text. */
  lists(out: SqlOut, alias: string, column: string, names: readonly string[]): void;
  /**
   * JSON of an object in a column, of its storage, without the members of these names and places inside them (`a.b` of `a`).
   * @param names each writes an expression: a name, or NULL
   */
  without(out: SqlOut, alias: string, column: string, storage: 'json' | 'text', names: ReadonlyArray<() => void>): void;
  /** The text of a snapshot of a record (`Snapshot`), out of its columns. Left out where the database takes it before the statement. */
  snapshot?(out: SqlOut, alias: string, fields: readonly Field[]): void;
  /**
   * The new value of a json column of the row that is being updated. Left out where edits are computed before the statement.
   * @param label `<Table>.<Field>`, for the text of errors
   */
  edit?(out: SqlOut, field: Field, edits: readonly JsonEdit[], label: string): void;
}
