import type { DatePart } from '../../../query/aggregate/model.ts';
import type { Fragment } from './fragment.ts';

/** What differs between databases in aggregations. Operands may be written once only, but for those that are said to be simple. */
export interface AggregateDialect {
  /** The value of a body over named operands, each of them computed once. */
  bind(operands: readonly (readonly [name: string, value: Fragment])[], body: Fragment): Fragment;

  /** JSON text of the value at a path inside JSON text; NULL where there is none, and for null. */
  place(json: Fragment, path: readonly string[]): Fragment;
  /** JSON text with the value at a path put in; taken out where `value` is null. */
  edited(json: Fragment, path: readonly string[], value: Fragment | null): Fragment;
  /** JSON text that is the same for equal values. */
  canonical(json: Fragment): Fragment;
  /** What JSON text is sorted by. */
  sortKey(json: Fragment): Fragment;
  /** The text that JSON text is; NULL where it is none. So for numbers and members. Simple operands. */
  textOf(json: Fragment): Fragment;
  /** The same for a column, as SQL text that binds nothing. */
  textIn(column: string): string;
  numberOf(json: Fragment): Fragment;
  member(json: Fragment, name: string): Fragment;
  /** Number of elements of an array. */
  length(json: Fragment): Fragment;
  /** Whether the array, a simple operand, has an element of which the condition, over JSON text, is true. */
  someElement(json: Fragment, condition: (element: Fragment) => Fragment): Fragment;
  /** JSON text of a text, of a finite number (simple), of an instant. */
  jsonOfText(text: Fragment): Fragment;
  jsonOfNumber(number: Fragment): Fragment;
  jsonOfInstant(instant: Fragment): Fragment;
  object(members: readonly (readonly [name: Fragment, json: Fragment])[]): Fragment;
  /** Without the members that are null; NULL where none is left. */
  compact(object: Fragment): Fragment;
  array(items: readonly Fragment[]): Fragment;
  /** JSON array of JSON texts that a group holds; NULLs are passed over. */
  collected(json: Fragment, order: Fragment | null): Fragment;

  /** Milliseconds of ISO text. */
  instantOf(iso: Fragment): Fragment;
  /** A part of an instant. */
  datePart(part: DatePart, instant: Fragment): Fragment;
  /** A number as an instant; NULL beyond what a Date can hold. Simple operand. */
  toInstant(number: Fragment): Fragment;
  /** Remainder with the sign of the dividend, NULL for a divisor of zero. */
  remainder(dividend: Fragment, divisor: Fragment): Fragment;
  round(number: Fragment, places: number): Fragment;
  /** The number of a simple operand if it is finite. */
  finite(number: Fragment): Fragment;

  /**
   * The rows of `from` times the elements of the array in a column of it, whose value may be anything. Rows without elements stay
   * where `preserve` says so.
   */
  unwind(
    from: string,
    json: Fragment,
    preserve: boolean,
  ): { readonly from: Fragment; readonly element: Fragment; readonly position: Fragment };
  /** What keeps rows from going on for too long, where `unwind` multiplies them. */
  readonly unwindMayGoOn: Fragment;
  /** LIMIT without a bound, which OFFSET needs. */
  readonly noLimit: string;
}
