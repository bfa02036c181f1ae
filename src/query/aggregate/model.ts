// The checked form of an aggregation (aggregation.md#request). No SQL here; engines compile it.
import type { Field, TableSchema } from '../../schema/model.ts';
import type { Storage, StoredValue } from '../../values/types/type.ts';
import type { Comparison, Filter, Regex } from '../model/filter.ts';

/** The statically known kind of a value; `json` is JSON text of any value, whose type only the row knows. */
export interface ValueKind {
  readonly kind: Exclude<Storage, 'relation'>;
  /** Pointer only. */
  readonly targetClass?: string;
}

/** A numbered column of the rows between stages. Compared by identity; a stage that passes a column on keeps the object. */
export interface Column extends ValueKind {
  readonly id: number;
  /** Whether an absent value is shown as `null` (computed values) or left out (fields). */
  readonly keepNull: boolean;
}

/** Parts of a Date, in UTC; `week` counts Sundays from 0, `dayOfWeek` starts at 1. */
export const dateParts = ['year', 'month', 'dayOfMonth', 'hour', 'week', 'dayOfWeek', 'minute', 'second'] as const;
export type DatePart = (typeof dateParts)[number];

/** The expression operators. */
export type Operator =
  | 'add'
  | 'subtract'
  | 'multiply'
  | 'divide'
  | 'mod'
  | 'abs'
  | 'round'
  | 'concat'
  | 'toUpper'
  | 'toLower'
  | 'ifNull'
  | 'cond'
  | 'eq'
  | 'ne'
  | 'gt'
  | 'gte'
  | 'lt'
  | 'lte'
  | 'and'
  | 'or'
  | 'not'
  | 'size'
  | DatePart;

/** An expression over a row, and the kind of its result. */
export type Expression = ValueKind &
  (
    | { readonly form: 'column'; readonly column: Column }
    /** A value inside a json column; absent if it is null. */
    | { readonly form: 'place'; readonly column: Column; readonly path: readonly string[] }
    | { readonly form: 'literal'; readonly value: StoredValue }
    | { readonly form: 'call'; readonly operator: Operator; readonly items: readonly Expression[] }
    | {
        readonly form: 'object';
        readonly members: ReadonlyArray<readonly [name: string, value: Expression]>;
        /** Whether absent members are left out, and an object without members is absent, as in a record. */
        readonly compact: boolean;
      }
    | { readonly form: 'array'; readonly items: readonly Expression[] }
    /** A json column with a value inserted at a place. */
    | { readonly form: 'edited'; readonly column: Column; readonly path: readonly string[]; readonly value: Column }
    /** A json column with the values at some places removed, all at once. */
    | { readonly form: 'without'; readonly column: Column; readonly paths: readonly (readonly string[])[] }
  );

/** A value that does not depend on the row. */
export type Literal = Extract<Expression, { form: 'literal' }>;

/** A `$match` over computed columns. Only true counts, as in `Filter`. */
export type Condition =
  | { readonly kind: 'never' }
  | { readonly kind: 'and' | 'or'; readonly items: readonly Condition[] }
  | { readonly kind: 'not'; readonly item: Condition }
  | { readonly kind: 'exists'; readonly column: Column }
  /** The operand is of the column's kind; of any kind if the column is json, where `eq` also matches an element of an array. */
  | {
      readonly kind: 'compare';
      readonly column: Column;
      readonly op: Comparison;
      readonly operand: Literal;
    }
  /** Not for json columns. */
  | { readonly kind: 'in'; readonly column: Column; readonly values: readonly StoredValue[] }
  /** For text and json columns. */
  | { readonly kind: 'regex'; readonly column: Column; readonly regex: Regex };

/** An accumulator of a `$group`. */
export interface Accumulator {
  readonly column: Column;
  readonly operator: 'sum' | 'avg' | 'min' | 'max' | 'first' | 'last' | 'push' | 'addToSet' | 'count';
  /** Absent for `count`. */
  readonly argument?: Column;
}

/** One step. Columns that a step does not mention pass through it, except in `group`, which keeps only its own. */
export type Stage =
  | { readonly kind: 'match'; readonly condition: Condition }
  | { readonly kind: 'compute'; readonly columns: ReadonlyArray<readonly [Column, Expression]> }
  /** Without keys: one row, or none if there are no input rows. */
  | {
      readonly kind: 'group';
      readonly keys: ReadonlyArray<readonly [key: Column, from: Column]>;
      readonly accumulators: readonly Accumulator[];
    }
  | { readonly kind: 'sort'; readonly keys: ReadonlyArray<{ readonly column: Column; readonly descending: boolean }> }
  | { readonly kind: 'skip' | 'limit'; readonly count: number }
  /** One row for each element of an array in `source`; a value that is no array counts as its own element. */
  | {
      readonly kind: 'unwind';
      readonly source: Column;
      readonly element: Column;
      /** Position in the array; NULL if the value is no array. */
      readonly position: Column;
      /** Whether rows without elements stay. */
      readonly preserve: boolean;
    };

/** A whole aggregation. */
export interface Aggregation {
  readonly table: TableSchema;
  /** The caller's guard, the leading `where` and `$match`. */
  readonly filter: Filter;
  /** The columns of the records, Relations too, in the order of the schema. */
  readonly base: ReadonlyArray<readonly [Column, Field]>;
  /** The order of creation, which rows keep until a stage sorts them. */
  readonly sequence: Column;
  readonly stages: readonly Stage[];
  /** The members of the result objects, in order. */
  readonly output: ReadonlyArray<readonly [name: string, Column]>;
}

/** Returns only the kind of an object that has one. */
export function kindOf({ kind, targetClass }: ValueKind): ValueKind {
  return targetClass === undefined ? { kind } : { kind, targetClass };
}

/** Whether values of two kinds can be equal. */
export function sameKind(a: ValueKind, b: ValueKind): boolean {
  return a.kind === b.kind && a.targetClass === b.targetClass;
}
