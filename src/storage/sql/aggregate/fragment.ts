import { type Column, kindOf, type ValueKind } from '../../../query/aggregate/model.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { SqlWriter } from '../writer.ts';

/**
 * SQL that may be put together in any order and used more than once: text, values to bind, what other writers write, and fragments. These
 * are held, not copied: a copy on every level makes n² of n levels.
 */
export type Fragment = readonly Piece[];
type Piece = string | { readonly bound: StoredValue } | ((out: SqlWriter) => void) | Fragment;

/** A fragment of SQL text with other fragments in it; strings that are put in are SQL too. */
export function sql(text: TemplateStringsArray, ...parts: readonly (Fragment | string)[]): Fragment {
  const pieces: Piece[] = [text[0] as string];
  parts.forEach((part, at) => {
    pieces.push(part, text[at + 1] as string);
  });
  return pieces;
}

/** A value to bind, in the form that the driver takes. */
export const bound = (value: StoredValue): Fragment => [{ bound: value }];

/** Fragments one after the other, a text between them. */
export function joined(parts: readonly Fragment[], separator: string): Fragment {
  return parts.flatMap((part, at) => (at === 0 ? [part] : [separator, part]));
}

/** Engines bound the depth of an expression, and a chain of n operators is n deep; halving makes it log n. */
export function combined(parts: readonly Fragment[], combine: (a: Fragment, b: Fragment) => Fragment): Fragment {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  const middle = parts.length >> 1;
  return combine(combined(parts.slice(0, middle), combine), combined(parts.slice(middle), combine));
}

/** Parts with an operator between them. */
export function balanced(parts: readonly Fragment[], operator: ' AND ' | ' OR ' | ' || '): Fragment {
  return combined(parts, (a, b) => sql`(${a}${operator}${b})`);
}

/** Writes a fragment into a statement, where its values are bound. */
export function writeFragment(out: SqlWriter, fragment: Fragment): void {
  for (const piece of fragment) {
    if (typeof piece === 'string') out.add(piece);
    else if (typeof piece === 'function') piece(out);
    else if ('bound' in piece) out.bind(piece.bound);
    else writeFragment(out, piece);
  }
}

/** The name of a column in the statement. Names that clients choose never get here. */
export const columnName = (column: Column): string => `"c${column.id}"`;

/** SQL of a value whose kind is known. */
export interface Typed extends ValueKind {
  readonly sql: Fragment;
  /** Cheap enough to be written more than once. */
  readonly simple: boolean;
}

/** A column as a value. */
export function typedColumn(column: Column): Typed {
  return { ...kindOf(column), sql: [columnName(column)], simple: true };
}
