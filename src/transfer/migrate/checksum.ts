import { createHash } from 'node:crypto';
import { chunkedRows, type RawReads } from '../../storage/raw-access.ts';
import { memberPieces, type Part } from './copy.ts';

/** What a part of a store holds, in short. */
export interface Checksum {
  readonly count: number;
  /** SHA-256 over every value of every row, in order. */
  readonly hash: string;
}

/** Characters of a text that is handed on; longer ones make memory grow. */
const TEXT_LENGTH = 128 * 1024;

/** Some rows of a part, as text. */
export interface Lines {
  readonly rows: number;
  readonly text: string;
}

/**
 * A whole part as text, piece by piece: a JSON array of stored values for each row. Two parts that hold the same, to the byte, are the same
 * text, whatever the engine: JSON tells texts from numbers, and doubles exactly.
 */
export async function* linesOf(reads: RawReads, part: Part): AsyncGenerator<Lines> {
  const pieces = part.kind === 'table' ? chunkedRows(reads, part.table, 0) : memberPieces(reads, part.field, null);
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

/** Reads a whole part. */
export async function checksumOf(reads: RawReads, part: Part): Promise<Checksum> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const { rows, text } of linesOf(reads, part)) {
    hash.update(text);
    count += rows;
  }
  return { count, hash: hash.digest('hex') };
}
