import type { DatePart, ValueKind } from '../../../query/aggregate/model.ts';
import type { Fragment } from './fragment.ts';

/** What differs between databases in aggregations. Operands may be written once only, but for those that are said to be simple. */
export interface AggregateDialect {
  /** An expression, a bound value or NULL said to be of a kind, in the form that columns of that kind have between stages. */
  typed(kind: ValueKind['kind'], value: Fragment): Fragment;
  /** Follows a SELECT whose columns are to be computed once, not wherever they are used. */
  readonly fence: string;
  /** The value of a body over named operands, each of them computed once. */
  bind(operands: readonly (readonly [name: string, value: Fragment])[], body: Fragment): Fragment;

  /** JSON text of the value at a path inside JSON text; NULL where there is none, and for null. */
  place(json: Fragment, path: readonly string[]): Fragment;
  /** JSON text with a value put in at a path. */
  edited(json: Fragment, path: readonly string[], value: Fragment): Fragment;
  /** JSON text without what is at some paths, which are followed by keys alone. */
  without(json: Fragment, paths: readonly (readonly string[])[]): Fragment;
  /** What equal JSON texts have in common. */
  equalityKey(json: Fragment): Fragment;
  /** The same of the canonical JSON text of a literal (kernel/json.ts). */
  equalityKeyOf(canonical: Fragment): Fragment;
  /** JSON text in a column to group by: `by` is the same for equal values, `shown` the canonical text of a group's (the same object where that is one). */
  groupKey(json: Fragment): { readonly by: Fragment; readonly shown: Fragment };
  /** What a value of a kind is sorted by. Simple operand. */
  sortKey(kind: ValueKind['kind'], value: Fragment): Fragment;
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
  /** JSON text of a text, of a finite number, of an instant; simple operands, but for the text. */
  jsonOfText(text: Fragment): Fragment;
  jsonOfNumber(number: Fragment): Fragment;
  jsonOfInstant(instant: Fragment): Fragment;

  /** JSON array of the JSON texts that a group holds, in an order; NULLs are passed over. */
  collected(json: Fragment, order: Fragment): Fragment;
  /** JSON array of the different JSON texts that a group holds, in the order of their text. @param mixed unless equal values have one text */
  collectedSet(json: Fragment, mixed: boolean): Fragment;
  /** The value of the row of a group for which the condition holds. */
  only(condition: Fragment, value: Fragment): Fragment;
  /** The least or the greatest value of a group; not for values of unknown kind. */
  extreme(which: 'min' | 'max', kind: ValueKind['kind'], value: Fragment): Fragment;
  /** The sum of a group's numbers, NULL where there are none, or their average. `number` is a column. */
  total(which: 'sum' | 'avg', number: Fragment): Fragment;

  /** Arithmetic of numbers: infinite where it leaves their range, NULL where it makes no sense. A divisor of zero makes NULL. */
  arithmetic(operator: '+' | '-' | '*' | '/', a: Fragment, b: Fragment): Fragment;

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
