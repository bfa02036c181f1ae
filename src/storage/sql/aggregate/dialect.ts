import type { DatePart, ValueKind } from '../../../query/aggregate/model.ts';
import type { Fragment } from './fragment.ts';

/** The differences between databases in aggregations. Implementations may write an operand only once unless it is documented as simple. */
export interface AggregateDialect {
  /** Casts an expression, a bound value or NULL to the form that columns of a kind have between stages. */
  typed(kind: ValueKind['kind'], value: Fragment): Fragment;
  /** Suffix of a SELECT whose columns shall be computed once instead of at each use. */
  readonly fence: string;
  /** Returns a body over named operands, each computed once. */
  bind(operands: readonly (readonly [name: string, value: Fragment])[], body: Fragment): Fragment;

  /** JSON text of the value at a path inside JSON text; NULL if it is absent or null. */
  place(json: Fragment, path: readonly string[]): Fragment;
  /** JSON text with a value set at a path. */
  edited(json: Fragment, path: readonly string[], value: Fragment): Fragment;
  /** JSON text without the values at some paths, which consist of keys only. */
  without(json: Fragment, paths: readonly (readonly string[])[]): Fragment;
  /** A key that is the same for equal JSON texts. */
  equalityKey(json: Fragment): Fragment;
  /** The same for the canonical JSON text of a literal (kernel/json.ts). */
  equalityKeyOf(canonical: Fragment): Fragment;
  /**
   * Keys for grouping by a JSON text column: `by` is the same for equal values, `shown` the canonical text of the group's value (the same object if
   * both are one expression).
   */
  groupKey(json: Fragment): { readonly by: Fragment; readonly shown: Fragment };
  /** The sort key of a value of a kind. Simple operand. */
  sortKey(kind: ValueKind['kind'], value: Fragment): Fragment;
  /** The string in a JSON text; NULL if it is not a string. Likewise for numbers and members. Simple operands. */
  textOf(json: Fragment): Fragment;
  /** The same for a column, as SQL text without parameters. */
  textIn(column: string): string;
  numberOf(json: Fragment): Fragment;
  member(json: Fragment, name: string): Fragment;
  /** Number of elements of an array. */
  length(json: Fragment): Fragment;
  /** Whether the array has an element, as JSON text, for which the condition is true. Simple operand. */
  someElement(json: Fragment, condition: (element: Fragment) => Fragment): Fragment;
  /** JSON text of a text, of a finite number, of a timestamp; simple operands except for the text. */
  jsonOfText(text: Fragment): Fragment;
  jsonOfNumber(number: Fragment): Fragment;
  jsonOfInstant(instant: Fragment): Fragment;

  /** JSON array of the JSON texts of a group, in an order; NULLs are skipped. */
  collected(json: Fragment, order: Fragment): Fragment;
  /** JSON array of the distinct JSON texts of a group, in the order of their text. @param mixed whether equal values may have different texts */
  collectedSet(json: Fragment, mixed: boolean): Fragment;
  /** The value of the group's row for which the condition holds. */
  only(condition: Fragment, value: Fragment): Fragment;
  /** The minimum or maximum of a group; not for values of unknown kind. */
  extreme(which: 'min' | 'max', kind: ValueKind['kind'], value: Fragment): Fragment;
  /** The sum of a group's numbers (NULL if there are none) or their average. `number` is a column. */
  total(which: 'sum' | 'avg', number: Fragment): Fragment;

  /** Arithmetic: infinite on overflow, NULL if undefined. Division by zero gives NULL. */
  arithmetic(operator: '+' | '-' | '*' | '/', a: Fragment, b: Fragment): Fragment;

  /** Milliseconds since 1970 of an ISO text. */
  instantOf(iso: Fragment): Fragment;
  /** A part of a timestamp. */
  datePart(part: DatePart, instant: Fragment): Fragment;
  /** A number as a timestamp; NULL outside the range of Date. Simple operand. */
  toInstant(number: Fragment): Fragment;
  /** Remainder with the sign of the dividend; NULL if the divisor is zero. */
  remainder(dividend: Fragment, divisor: Fragment): Fragment;
  round(number: Fragment, places: number): Fragment;
  /** The number if it is finite. Simple operand. */
  finite(number: Fragment): Fragment;

  /**
   * Joins the rows of `from` with the elements of the array in one of its columns, whose value may be anything.
   * @param preserve whether rows without elements stay
   */
  unwind(
    from: string,
    json: Fragment,
    preserve: boolean,
  ): { readonly from: Fragment; readonly element: Fragment; readonly position: Fragment };
  /** A condition that enforces the time limit on the rows that `unwind` multiplies. */
  readonly unwindInterruptCheck: Fragment;
  /** LIMIT of an unlimited list, which OFFSET requires. */
  readonly noLimit: string;
}
