import { type Line, readLines } from './lines.ts';
import { isParseExport, readResults } from './results.ts';

/** Bytes by which the form of a file is known. */
const SAMPLE_BYTES = 4096;

/** A file to import, in whatever form it is. */
export interface Rows {
  /** What a row of it is called. */
  readonly unit: 'line' | 'record';
  readonly blocks: AsyncIterable<readonly Line[]>;
}

/**
 * The rows of a file: lines of newline-delimited JSON, or the records of an export of Parse.
 * @param chunks its bytes
 * @param hasResults whether the table has a field `results`: a line may begin as an export does then
 */
export async function readRows(chunks: AsyncIterable<Buffer>, hasResults: boolean): Promise<Rows> {
  const rest = chunks[Symbol.asyncIterator]();
  const begun: Buffer[] = [];
  let bytes = 0;
  while (bytes < SAMPLE_BYTES) {
    const next = await rest.next();
    if (next.done) break;
    begun.push(next.value);
    bytes += next.value.length;
  }
  const start = Buffer.concat(begun);
  const whole = (async function* () {
    if (start.length > 0) yield start;
    yield* { [Symbol.asyncIterator]: () => rest };
  })();
  if (hasResults || !isParseExport(start.toString('utf8', 0, SAMPLE_BYTES))) return { unit: 'line', blocks: readLines(whole) };
  return { unit: 'record', blocks: readResults(whole) };
}
