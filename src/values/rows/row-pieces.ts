import { randomBytes } from 'node:crypto';
import { endOfPiece, escapeJson } from '../../kernel/json.ts';
import { type Expansion, type RowShape, rowWriter } from './encode.ts';

/** Number of characters beyond which a value is written in pieces, and of each piece. */
const LONG_VALUE_LENGTH = 256 * 1024;
const PIECE_LENGTH = 128 * 1024;

/** Placeholder for a value while the rest of its row is written; random, so that no value contains it. */
const standIn = randomBytes(24).toString('base64url');

interface LongValue {
  readonly text: string;
  readonly isJson: boolean;
}

/**
 * Yields the JSON text of a row in pieces, so that a value of megabytes is never copied as a whole: such a copy would block the event loop and
 * double the memory.
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
    yield isJson ? piece : escapeJson(piece);
    at = end;
  }
}
