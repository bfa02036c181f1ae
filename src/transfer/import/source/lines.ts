import { limits } from '../../../kernel/limits.ts';

const NEWLINE = 10;

/** A line without its end; `null` for a line longer than a request body, whose text was discarded. */
export type Line = string | null;

/**
 * Returns the lines of a UTF-8 text in blocks. A non-empty rest after the last line end counts as a line. Memory holds at most one chunk and one
 * line.
 * @param chunks bytes, split anywhere
 */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly Line[]> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const begin = (part: Buffer) => {
    parts = [part];
    bytes = part.length;
  };
  const extend = (part: Buffer) => {
    bytes += part.length;
    if (bytes > limits.bodyBytes) parts = [];
    else parts.push(part);
  };
  const line = (): Line => (bytes > limits.bodyBytes ? null : Buffer.concat(parts).toString());
  for await (const chunk of chunks) {
    const first = chunk.indexOf(NEWLINE);
    if (first < 0) {
      extend(chunk);
      continue;
    }
    extend(chunk.subarray(0, first));
    yield [line()];
    const last = chunk.lastIndexOf(NEWLINE);
    if (last > first) yield chunk.toString('utf8', first + 1, last).split('\n');
    begin(chunk.subarray(last + 1));
  }
  if (bytes > 0) yield [line()];
}
