import type { JsonValue } from '../../kernel/json.ts';

/** A piece of a text with templates: text as it is, or the place in the record whose value stands there. */
export type Piece = string | Place;

/** What stands between braces. */
export interface Place {
  /** A field, then keys of Objects, positions of Arrays, or fields of the record that a Pointer names. */
  readonly path: readonly string[];
  /** Written as `{{{Field}}}`: not escaped in HTML. */
  readonly isRaw: boolean;
}

/** Linear: nothing between braces is a brace. */
const braces = /\{\{\{([^{}]*)\}\}\}|\{\{([^{}]*)\}\}/g;
const fieldName = /^[A-Za-z]\w*$/;

/**
 * The pieces of a text (docs/decisions.md "Triggers": templates). Braces that name no field, as in `{{ 5 + 5 }}`, are text. Pure and cheap, so
 * that nobody has to remember them.
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

/** The place of a text that is one template alone; `null` for any other text. */
export function wholePlace(text: string): Place | null {
  if (!text.startsWith('{{') || !text.endsWith('}}')) return null;
  const [piece, ...more] = piecesOf(text);
  return typeof piece === 'object' && more.length === 0 ? piece : null;
}

/** The first is a field; keys of Objects may be any text. `null` where it is no path. */
function pathOf(text: string): readonly string[] | null {
  const path = text.trim().split('.');
  return fieldName.test(path[0] as string) && !path.includes('') ? path : null;
}

/** The paths of all templates in a value. */
export function* pathsIn(value: JsonValue): Generator<readonly string[]> {
  if (typeof value === 'string') {
    for (const piece of piecesOf(value)) if (typeof piece === 'object') yield piece.path;
  } else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) yield* pathsIn(inner);
}
