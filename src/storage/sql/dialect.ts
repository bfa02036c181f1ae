import type { Comparison, FieldRef, JsonOperand, Regex, SearchWords, TextSearch } from '../../query/model/filter.ts';
import type { Field, TableSchema, UniqueForm } from '../../schema/model.ts';
import type { JsonEdit } from '../../values/operators/apply.ts';
import type { Storage, StoredValue } from '../../values/types/type.ts';

/** SQL signs of comparisons, to stand between two operands. */
export const comparisonSigns: Readonly<Record<Comparison, string>> = {
  eq: ' = ',
  lt: ' < ',
  lte: ' <= ',
  gt: ' > ',
  gte: ' >= ',
};

/** A column beside a field's column, derived from the same value. */
export interface Companion {
  readonly column: string;
  /** Returns its value for a value of the field. */
  of(value: StoredValue): StoredValue;
}

/** SQL being written, as dialects see it: text and the values bound so far. */
export interface SqlOut {
  add(sql: string): this;
  /** A table of the system. */
  table(sqlName: string): this;
  /** A quoted identifier of the schema. */
  name(identifier: string): this;
  /** A quoted column of a table alias. */
  column(alias: string, column: string): this;
  /** A placeholder; its value is recorded. */
  bind(value: StoredValue): this;
  /**
   * Records a value and returns its placeholder as text, for an expression that is composed before it is added. It may be repeated if placeholders
   * are numbered.
   */
  parameter(value: StoredValue): string;
}

/**
 * The differences between SQLite and PostgreSQL. Methods that take `out` write one SQL expression, parenthesised if needed. Predicates may evaluate
 * to true, false or NULL; only true counts. SQL texts never depend on values: a list is bound as one parameter.
 */
export interface Dialect {
  /** Returns a quoted identifier of the schema, shortened to the limits of the database. */
  quoted(identifier: string): string;
  /** Returns a table of the system, quoted and qualified with what names its system. */
  table(sqlName: string): string;
  /** What LIMIT is bound to for an unlimited list; some databases require LIMIT with OFFSET. */
  readonly noLimit: number | null;
  /** Returns the column that must be written together with a field's column so that the database can search it; `null` for most fields. */
  companion(table: TableSchema, field: Field): Companion | null;
  /** Returns the SQL of the key by which unique indexes compare a value (schema/unique-key.ts). @param operand a column, or a value of its type */
  uniqueKey(form: UniqueForm, storage: Storage, operand: string): string;
  /** Writes a row source for a JSON array of arrays of values: `n` from 0, then `k0`, `k1`, … */
  keyRows(out: SqlOut, json: string, storages: readonly Storage[]): void;
  /** Writes the join, as `t`, of a table whose rows are found by a unique index. */
  joinByKey(out: SqlOut, sqlName: string, index: string): void;
  /** Returns the placeholder of the n-th parameter, from 1. */
  placeholder(n: number): string;
  /** Name of the function that returns the greatest of its arguments. */
  readonly greatest: string;
  /** Converts a stored value to the form that the driver binds to a column. */
  toColumn(storage: Storage, value: StoredValue): StoredValue;
  /** Returns the suffix of an ORDER BY term that may be absent: absent values come first ascending and last descending. */
  nulls(descending: boolean): string;
  /**
   * Prefix of a sort column that keeps the planner from reading in the order of its index, for reads of most of a table, which the index would visit
   * record by record.
   */
  readonly unindexed: string;
  /** Writes a condition that is always true, but throws once a statement has run for too long; it comes first in the WHERE of a scan. */
  interruptCheck(out: SqlOut, alias: string): void;
  /**
   * In such a statement, writes the prefix of a condition whose run time depends on the length of a column's value: it checks the time if the value
   * is long.
   */
  interruptCheckIfLong(out: SqlOut, alias: string, column: string): void;

  /** Writes the byte length of a column's text. */
  byteLength(out: SqlOut, alias: string, field: Field): void;

  /** Returns the single parameter that a list is bound as. */
  list(values: readonly StoredValue[]): StoredValue;
  /** Writes `<operand> IN <list>`; `operand` writes the left side. */
  isMember(out: SqlOut, operand: () => void, values: readonly StoredValue[], storage: Storage): void;
  /**
   * Writes `column = value` for a text column that the query is ordered by first. The planner shall walk an index in that order, however common the
   * value is.
   */
  equalsLeadingKey(out: SqlOut, alias: string, field: Field, value: StoredValue): void;
  /**
   * Writes whether an operand is among the rows of an uncorrelated sub-query, for positions where planners do not turn it into a join. `operand` and
   * `query` write both sides.
   */
  isAmong(out: SqlOut, operand: () => void, query: () => void): void;
  /** Writes a row source with the column `value`: one row per string of a JSON array. */
  listRows(out: SqlOut, json: string): void;

  /** Writes whether a text expression without parameters matches. */
  textMatches(out: SqlOut, expression: string, regex: Regex): void;
  /** Writes whether a full-text search finds the record. */
  search(out: SqlOut, alias: string, table: TableSchema, search: TextSearch): void;
  /**
   * Writes the relevance of the record, higher for better; NULL if the search does not find it.
   * @param alone by the record's own words only, independent of other records
   */
  score(out: SqlOut, alias: string, table: TableSchema, search: TextSearch, alone: boolean): void;

  /**
   * Writes whether the record is one of those that a search index finds (`Filter`, `candidates`).
   * @param restrict writes further conditions on a record, preceded by ` AND `, under an alias of the table
   */
  candidates(out: SqlOut, alias: string, table: TableSchema, search: SearchWords, restrict: (alias: string) => void): void;

  /** Writes whether a path inside a json column has a value other than null. */
  jsonExists(out: SqlOut, alias: string, ref: FieldRef): void;
  /** Writes a comparison of the value at the path with one of the same JSON type. */
  jsonCompare(out: SqlOut, alias: string, ref: FieldRef, op: Comparison, operand: JsonOperand): void;
  /** Writes whether the array at the path has an element for `any` or `all` of the operands, or elements of `only` these. */
  jsonHas(
    out: SqlOut,
    alias: string,
    ref: FieldRef,
    which: 'any' | 'all' | 'only',
    operands: readonly (JsonOperand | Regex)[],
  ): void;
  /** Writes whether the path holds a Pointer to the class, or an array with one, whose id is among the rows of the sub-query that `ids` writes. */
  jsonPointsInto(out: SqlOut, alias: string, ref: FieldRef, className: string, ids: () => void): void;
  /** Writes whether the array at the path has an element of the operand's type for which the comparison holds. */
  jsonHasOrdered(out: SqlOut, alias: string, ref: FieldRef, op: Comparison, operand: JsonOperand): void;
  /** Writes whether the text at the path, or a text in the array there, matches. */
  jsonMatches(out: SqlOut, alias: string, ref: FieldRef, regex: Regex): void;
  /** Writes the sort key of a path. */
  jsonOrder(out: SqlOut, alias: string, ref: FieldRef): void;
  /** Writes the canonical JSON text of the wire value of a field or path; NULL if absent. For comparing columns of different types. */
  wireText(out: SqlOut, alias: string, ref: FieldRef): void;
  /** Writes a row source with the column `value`: the wire text at a path of a json column, and of its elements if it is an array. */
  wireTexts(out: SqlOut, alias: string, ref: FieldRef): void;
  /** Writes whether an ACL column is empty or grants a right to one of the identities. */
  aclAllows(out: SqlOut, alias: string, column: string, right: 'read' | 'write', identities: readonly string[]): void;
  /** Writes a row source with columns of these names: one row per array in a JSON array of arrays (in a text column), with the elements as text. */
  lists(out: SqlOut, alias: string, column: string, names: readonly string[]): void;
  /**
   * Writes the JSON of an object column of this storage, without the named members and without paths inside them (`a.b` of `a`).
   * @param names each writes an expression: a name, or NULL
   */
  without(out: SqlOut, alias: string, column: string, storage: 'json' | 'text', names: ReadonlyArray<() => void>): void;
  /** Writes the text of a snapshot of a record (`Snapshot`) from its columns. Absent if the engine takes snapshots before the statement. */
  snapshot?(out: SqlOut, alias: string, fields: readonly Field[]): void;
  /**
   * Writes the new value of a json column of the row being updated. Absent if the engine computes edits before the statement.
   * @param label `<Table>.<Field>`, for error texts
   */
  edit?(out: SqlOut, field: Field, edits: readonly JsonEdit[], label: string): void;
}
