import { createHash } from 'node:crypto';
import type { Store } from '../../storage/port.ts';
import { chunkedRows } from '../../storage/raw-access.ts';
import { memberPieces, type Part } from './copy.ts';

/** What a part of a store holds, in short. */
export interface Checksum {
  readonly count: number;
  /** SHA-256 over every value of every row, in order. */
  readonly hash: string;
}

/** Reads a whole part. Two that hold the same, to the byte, have the same checksum, whatever the engine. */
export async function checksumOf(store: Store, part: Part): Promise<Checksum> {
  const hash = createHash('sha256');
  let count = 0;
  const rows = part.kind === 'table' ? chunkedRows(store.raw, part.table, 0) : memberPieces(store.raw, part.field, null);
  for await (const piece of rows)
    for (const row of piece) {
      // JSON tells texts from numbers, and doubles exactly.
      hash.update(JSON.stringify(row)).update('\n');
      count++;
    }
  return { count, hash: hash.digest('hex') };
}
