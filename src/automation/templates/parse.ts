import type { JsonValue } from '../../kernel/json.ts';

/** A piece of a template: literal text, or a reference to a field. */
export type Piece = string | FieldReference;

/** A reference between braces. */
export interface FieldReference {
  /** A field, followed by keys of Objects, positions of Arrays, or fields of the record that a Pointer names. */
  readonly path: readonly string[];
  /** Written as `{{{Field}}}`: not escaped in HTML. */
  readonly isRaw: boolean;
}

/** Matches in linear time, because the content contains no braces. */
const braces = /\{\{\{([^{}]*)\}\}\}|\{\{([^{}]*)\}\}/g;
const fieldName = /^[A-Za-z]\w*$/;

/**
 * Splits a text into pieces. Braces that name no field, as in `{{ 5 + 5 }}`, are literal text. Pure and cheap, so results need not be cached.
 * Reference: triggers.md#templates.
 */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let plain = '';
  let end = 0;
  for (const found of text.matchAll(braces)) {
    const path = pathOf(found[1] ?? found[2] ?? '');
    plain += text.slice(end, path ? found.index : found.index + found[0].length);
    end = found.index + found[0].length;
    if (!path) continue;
    if (plain !== '') pieces.push(plain);
    pieces.push({ path, isRaw: found[1] !== undefined });
    plain = '';
  }
  plain += text.slice(end);
  if (plain !== '') pieces.push(plain);
  return pieces;
}

/** Replaces the paths of all templates in a text; all else stays as it is written. */
export function withPaths(text: string, change: (path: readonly string[]) => readonly string[]): string {
  if (!text.includes('{{')) return text;
  return text.replace(braces, (whole, raw: string | undefined, escaped: string | undefined) => {
    const content = raw ?? escaped ?? '';
    const path = pathOf(content);
    if (!path) return whole;
    const written = content.trim();
    return whole.replace(written, () => change(path).join('.'));
  });
}

/** Returns the reference if the text is exactly one template; else `null`. */
export function soleReference(text: string): FieldReference | null {
  if (!text.startsWith('{{') || !text.endsWith('}}')) return null;
  const [piece, ...more] = piecesOf(text);
  return typeof piece === 'object' && more.length === 0 ? piece : null;
}

/** Parses a path. Its first part is a field; keys of Objects may be any text. `null` if it is not a path. */
function pathOf(text: string): readonly string[] | null {
  const path = text.trim().split('.');
  return fieldName.test(path[0] as string) && !path.includes('') ? path : null;
}

/** Returns the paths of all templates in a value. */
export function* pathsIn(value: JsonValue): Generator<readonly string[]> {
  if (typeof value === 'string') {
    for (const piece of piecesOf(value)) if (typeof piece === 'object') yield piece.path;
  } else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) yield* pathsIn(inner);
}
