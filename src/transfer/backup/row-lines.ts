import { OperatorError } from '../../kernel/operator-error.ts';
import { CHUNK_BYTES, type StoredMember, type StoredRow } from '../../storage/raw-access.ts';

const NEWLINE = 10;
/** Rows that are added at once. */
const MAX_ROWS = 1_000;

/** The lines of a part, each without its end, several at a time: as many as are added at once. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  let lines: string[] = [];
  let length = 0;
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      const line = rest.length === 0 ? piece.toString() : Buffer.concat([...rest, piece]).toString();
      rest = [];
      lines.push(line);
      length += line.length;
      start = end + 1;
      if (lines.length < MAX_ROWS && length < CHUNK_BYTES) continue;
      yield lines;
      lines = [];
      length = 0;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) lines.push(Buffer.concat(rest).toString());
  if (lines.length > 0) yield lines;
}

/**
 * The rows of a table's part, several at a time.
 * @param name of the part, for messages
 * @param columns how many values a row has
 * @throws OperatorError for a line that is no row
 */
export async function* storedRows(
  chunks: AsyncIterable<Buffer>,
  name: string,
  columns: number,
): AsyncGenerator<readonly StoredRow[]> {
  for await (const lines of linesOf(chunks)) yield lines.map((line) => rowOf(line, name, columns));
}

function rowOf(line: string, name: string, columns: number): StoredRow {
  const row = parsed(line, name);
  if (row.length !== columns + 1 || !Number.isSafeInteger(row[0])) return refuse(name);
  for (let at = 1; at < row.length; at++) {
    const value = row[at];
    if (value !== null && typeof value !== 'string' && typeof value !== 'number') return refuse(name);
  }
  return row as unknown as StoredRow;
}

/** The members of a Relation's part, in the same way. */
export async function* storedMembers(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<readonly StoredMember[]> {
  for await (const lines of linesOf(chunks))
    yield lines.map((line) => {
      const [owner, member, ...more] = parsed(line, name);
      if (typeof owner !== 'string' || typeof member !== 'string' || more.length > 0) return refuse(name);
      return [owner, member];
    });
}

function parsed(line: string, name: string): readonly unknown[] {
  try {
    const row: unknown = JSON.parse(line);
    if (Array.isArray(row)) return row;
  } catch {
    // Told below.
  }
  return refuse(name);
}

function refuse(name: string): never {
  throw new OperatorError(`${name}: a line of it is no record as its table has them`);
}
