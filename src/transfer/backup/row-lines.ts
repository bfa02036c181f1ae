import { limits } from '../../kernel/limits.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Field } from '../../schema/model.ts';
import { CHUNK_BYTES, type StoredMember, type StoredRow } from '../../storage/raw-access.ts';
import { storageOf } from '../../values/index.ts';

const NEWLINE = 10;
/** Rows per batch. */
const MAX_ROWS = 1_000;
/** Maximum length of a line, since a line is read whole: JSON takes up to six bytes per byte of a record. */
const MAX_LINE_BYTES = 8 * limits.recordBytes;

/** Returns lines without line ends, in batches of the size that is added at once. */
async function* linesOf(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<readonly string[]> {
  let lines: string[] = [];
  let length = 0;
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      const line = rest.length === 0 ? piece.toString() : Buffer.concat([...rest, piece]).toString();
      rest = [];
      restBytes = 0;
      lines.push(line);
      length += line.length;
      start = end + 1;
      if (lines.length < MAX_ROWS && length < CHUNK_BYTES) continue;
      yield lines;
      lines = [];
      length = 0;
    }
    if (start === chunk.length) continue;
    rest.push(chunk.subarray(start));
    restBytes += chunk.length - start;
    if (restBytes > MAX_LINE_BYTES) refuse(name);
  }
  if (rest.length > 0) lines.push(Buffer.concat(rest).toString());
  if (lines.length > 0) yield lines;
}

/**
 * Returns the rows of a table's part, in batches.
 * @param name of the part, for messages
 * @param columns of the table, in their order
 * @throws OperatorError for a malformed line
 */
export async function* storedRows(
  chunks: AsyncIterable<Buffer>,
  name: string,
  columns: readonly Field[],
): AsyncGenerator<readonly StoredRow[]> {
  const fits = columns.map(fitFor);
  let last = Number.NEGATIVE_INFINITY;
  for await (const lines of linesOf(chunks, name))
    yield lines.map((line) => {
      const row = parsed(line, name);
      const [place] = row;
      if (row.length !== fits.length + 1 || typeof place !== 'number' || !Number.isSafeInteger(place) || place <= last)
        return refuse(name);
      last = place;
      for (let at = 0; at < fits.length; at++) {
        const value = row[at + 1];
        if (value !== null && fits[at]?.(value) !== true) return refuse(name);
      }
      return row as unknown as StoredRow;
    });
}

/** Returns a check whether a non-null value can be stored in a field's column. */
function fitFor(field: Field): (value: unknown) => boolean {
  const storage = storageOf(field);
  if (storage === 'number' || storage === 'date') return Number.isFinite;
  if (storage === 'boolean') return (value) => value === 1 || value === 0;
  if (storage !== 'json') return (value) => typeof value === 'string';
  const isArray = field.type === 'Array';
  return (value) => typeof value === 'string' && isJsonText(value, isArray);
}

/** @param isArray whether an array is required, rather than an object */
function isJsonText(text: string, isArray: boolean): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && Array.isArray(value) === isArray;
  } catch {
    return false;
  }
}

/** Returns the members of a Relation's part, in batches. */
export async function* storedMembers(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<readonly StoredMember[]> {
  for await (const lines of linesOf(chunks, name))
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
    // Refused below.
  }
  return refuse(name);
}

function refuse(name: string): never {
  throw new OperatorError(`${name}: a line of it is no record as its table has them`);
}
