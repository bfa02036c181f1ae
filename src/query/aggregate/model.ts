// The checked form of an aggregation (CONTRACT "Records", `classes-aggregate`). No SQL here; engines compile it.
import type { Field, TableSchema } from '../../schema/model.ts';
import type { Storage, StoredValue } from '../../values/types/type.ts';
import type { Comparison, Filter, Regex } from '../model/filter.ts';

/** What a value is known to be; `json` is JSON text of any value, where only the row knows. */
export interface ValueKind {
  readonly kind: Exclude<Storage, 'relation'>;
  /** Pointer only. */
  readonly targetClass?: string;
}

/** A named-by-number column of the rows between stages. Compared by identity; a stage that passes a column on keeps it. */
export interface Column extends ValueKind {
  readonly id: number;
  /** Shown as `null` where empty (computed values), not left out (fields). */
  readonly keepNull: boolean;
}

/** Parts of a Date, in UTC; `week` as of Sunday from 0, `dayOfWeek` from 1. */
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

/** What is computed of a row, and the kind of what comes out. */
export type Expression = ValueKind &
  (
    | { readonly form: 'column'; readonly column: Column }
    /** A value inside a json column; absent where it is null. */
    | { readonly form: 'place'; readonly column: Column; readonly path: readonly string[] }
    | { readonly form: 'literal'; readonly value: StoredValue }
    | { readonly form: 'call'; readonly operator: Operator; readonly items: readonly Expression[] }
    | {
        readonly form: 'object';
        readonly members: ReadonlyArray<readonly [name: string, value: Expression]>;
        /** Absent members are left out, and an object without any is absent, as in a record. */
        readonly compact: boolean;
      }
    | { readonly form: 'array'; readonly items: readonly Expression[] }
    /** A json column with a value put in at a place. */
    | { readonly form: 'edited'; readonly column: Column; readonly path: readonly string[]; readonly value: Column }
    /** A json column without what is at some places, all of them taken out at once. */
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
  /** The operand is of the column's kind; of any, where the column is json: an element of an array there counts for `eq`. */
  | {
      readonly kind: 'compare';
      readonly column: Column;
      readonly op: Comparison;
      readonly operand: Literal;
    }
  /** Not for json columns. */
  | { readonly kind: 'in'; readonly column: Column; readonly values: readonly StoredValue[] }
  /** text and json columns. */
  | { readonly kind: 'regex'; readonly column: Column; readonly regex: Regex };

/** What a `$group` makes of the rows of a group. */
export interface Accumulator {
  readonly column: Column;
  readonly operator: 'sum' | 'avg' | 'min' | 'max' | 'first' | 'last' | 'push' | 'addToSet' | 'count';
  /** Absent for `count`. */
  readonly argument?: Column;
}

/** One step. Columns that a step does not speak of pass through it, but for `group`, which leaves its own alone. */
export type Stage =
  | { readonly kind: 'match'; readonly condition: Condition }
  | { readonly kind: 'compute'; readonly columns: ReadonlyArray<readonly [Column, Expression]> }
  /** Without keys: one row, or none where none came in. */
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
      /** Position in the array; NULL where there is none. */
      readonly position: Column;
      /** Rows without elements stay. */
      readonly preserve: boolean;
    };

/** A whole aggregation. */
export interface Aggregation {
  readonly table: TableSchema;
  /** The caller's guard, the leading `where` and `$match`. */
  readonly filter: Filter;
  /** The columns of the records, Relations too, in the order of the schema. */
  readonly base: ReadonlyArray<readonly [Column, Field]>;
  /** The order of creation, which rows keep until a stage orders them. */
  readonly sequence: Column;
  readonly stages: readonly Stage[];
  /** The members of the result objects, in order. */
  readonly output: ReadonlyArray<readonly [name: string, Column]>;
}

/** The kind alone of something that has one. */
export function kindOf({ kind, targetClass }: ValueKind): ValueKind {
  return targetClass === undefined ? { kind } : { kind, targetClass };
}

/** Whether two values can be equal, as kinds go. */
export function sameKind(a: ValueKind, b: ValueKind): boolean {
  return a.kind === b.kind && a.targetClass === b.targetClass;
}
