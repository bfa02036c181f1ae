import { createHash } from 'node:crypto';
import { chunkedRows, type RawReads } from '../../storage/raw-access.ts';
import { chunkedMembers, type Part } from './copy.ts';

/** Summary of the content of a part. */
export interface Checksum {
  readonly count: number;
  /** SHA-256 over every value of every row, in order. */
  readonly hash: string;
}

/** Length of text chunks; longer ones increase memory use. */
const TEXT_LENGTH = 128 * 1024;

/** Some rows of a part as text. */
export interface Lines {
  readonly rows: number;
  readonly text: string;
}

/**
 * Serialises a part in chunks: one JSON array of stored values per row. Parts with identical content have identical text in either engine, because
 * JSON
 * distinguishes texts from numbers and represents doubles exactly.
 */
export async function* linesOf(reads: RawReads, part: Part): AsyncGenerator<Lines> {
  const pieces = part.kind === 'table' ? chunkedRows(reads, part.table, 0) : chunkedMembers(reads, part.field, null);
  for await (const piece of pieces) {
    let text = '';
    let rows = 0;
    for (const row of piece) {
      text += `${JSON.stringify(row)}\n`;
      rows++;
      if (text.length < TEXT_LENGTH) continue;
      yield { rows, text };
      text = '';
      rows = 0;
    }
    if (rows > 0) yield { rows, text };
  }
}

/** Reads a part and returns its checksum. */
export async function checksumOf(reads: RawReads, part: Part): Promise<Checksum> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const { rows, text } of linesOf(reads, part)) {
    hash.update(text);
    count += rows;
  }
  return { count, hash: hash.digest('hex') };
}
