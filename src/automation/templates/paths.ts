import type { JsonValue } from '../../kernel/json.ts';
import { piecesOf } from './parse.ts';

/** The paths of all templates in a value. */
export function* pathsIn(value: JsonValue): Generator<readonly string[]> {
  if (typeof value === 'string') {
    for (const piece of piecesOf(value)) if (typeof piece === 'object') yield piece.path;
  } else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) yield* pathsIn(inner);
}
