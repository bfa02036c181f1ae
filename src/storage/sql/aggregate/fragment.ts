import { type Column, kindOf, type ValueKind } from '../../../query/aggregate/model.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { SqlWriter } from '../sql-writer.ts';

/**
 * SQL that may be composed in any order and used more than once: text, values to bind, output of other writers, and fragments. Nested fragments are
 * referenced, not copied: copying at each of n levels would cost n².
 */
export type Fragment = readonly Piece[];
type Piece = string | { readonly bound: StoredValue } | ((out: SqlWriter) => void) | Fragment;

/** Builds a fragment from SQL text and other fragments; interpolated strings are SQL too. */
export function sql(text: TemplateStringsArray, ...parts: readonly (Fragment | string)[]): Fragment {
  const pieces: Piece[] = [text[0] as string];
  parts.forEach((part, at) => {
    pieces.push(part, text[at + 1] as string);
  });
  return pieces;
}

/** A value to bind, in the form that the driver takes. */
export const bound = (value: StoredValue): Fragment => [{ bound: value }];

/** Concatenates fragments with a separator. */
export function joined(parts: readonly Fragment[], separator: string): Fragment {
  return parts.flatMap((part, at) => (at === 0 ? [part] : [separator, part]));
}

/** Engines limit the depth of expressions. A chain of n operators has depth n; halving it gives log n. */
export function combined(parts: readonly Fragment[], combine: (a: Fragment, b: Fragment) => Fragment): Fragment {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  const middle = parts.length >> 1;
  return combine(combined(parts.slice(0, middle), combine), combined(parts.slice(middle), combine));
}

/** Combines parts with an operator, in a balanced tree. */
export function balanced(parts: readonly Fragment[], operator: ' AND ' | ' OR ' | ' || '): Fragment {
  return combined(parts, (a, b) => sql`(${a}${operator}${b})`);
}

/** Writes a fragment into a statement and binds its values. */
export function writeFragment(out: SqlWriter, fragment: Fragment): void {
  for (const piece of fragment) {
    if (typeof piece === 'string') out.add(piece);
    else if (typeof piece === 'function') piece(out);
    else if ('bound' in piece) out.bind(piece.bound);
    else writeFragment(out, piece);
  }
}

/** The name of a column in the statement. Names chosen by clients never appear. */
export const columnName = (column: Column): string => `"c${column.id}"`;

/** SQL of a value of known kind. */
export interface Typed extends ValueKind {
  readonly sql: Fragment;
  /** Cheap enough to be written more than once. */
  readonly simple: boolean;
}

/** Returns a column as a value. */
export function typedColumn(column: Column): Typed {
  return { ...kindOf(column), sql: [columnName(column)], simple: true };
}
