import { randomBytes } from 'node:crypto';
import { type Expansion, type RowShape, rowWriter } from './encode.ts';

/** Characters of a value beyond which it is written piece by piece, and of a piece. */
const LONG_VALUE_LENGTH = 256 * 1024;
const PIECE_LENGTH = 128 * 1024;

/** Stands for a value while the rest of its row is written; no value holds it. */
const standIn = randomBytes(24).toString('base64url');

interface LongValue {
  readonly text: string;
  readonly isJson: boolean;
}

/**
 * JSON text of a row in pieces, so that a value of megabytes is never there once more as a whole: such a text would hold up the event loop, and
 * take as much memory again.
 */
export function* rowPieces(
  shape: RowShape,
  row: readonly unknown[],
  expansions: ReadonlyArray<Expansion | undefined> = [],
): Generator<string> {
  const write = rowWriter(shape);
  const long: LongValue[] = [];
  const columns = shape.columns.filter(({ storage }) => storage !== 'relation');
  const short = row.map((value, at) => {
    const column = columns[at];
    const isPlain = (column?.storage === 'text' || column?.storage === 'json') && !column.paths && !expansions[at];
    if (!isPlain || typeof value !== 'string' || value.length <= LONG_VALUE_LENGTH) return value;
    long.push({ text: value, isJson: column.storage === 'json' });
    return standIn;
  });
  const parts = (long.length > 0 ? write(short, expansions) : write(row, expansions)).split(standIn);
  for (const [at, part] of parts.entries()) {
    yield part;
    const value = long[at];
    if (value) yield* piecesOf(value);
  }
}

function* piecesOf({ text, isJson }: LongValue): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = endOfPiece(text, at, PIECE_LENGTH);
    const piece = text.slice(at, end);
    yield isJson ? piece : JSON.stringify(piece).slice(1, -1);
    at = end;
  }
}

/**
 * Where a piece of a text ends that begins at a place.
 * @param most characters; a pair of surrogates is not divided, since each piece is encoded by itself
 */
export function endOfPiece(text: string, at: number, most: number): number {
  const end = at + most;
  if (end >= text.length) return text.length;
  const isHalf = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isHalf ? end - 1 : end;
}
