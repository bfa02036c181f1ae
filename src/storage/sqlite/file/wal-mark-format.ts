import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** What is known of a file and its log of changes, beside them (docs/adr/0020). */
export interface Mark {
  /** Whether all was in the file, and there was no log. */
  readonly isClean: boolean;
  /** All that was written until then is in the file, in milliseconds since 1970. */
  readonly cleanAt: number;
  /** Of the log: its salts, the frames that were committed, and the last of them: the page that it is of, and a sum of it. */
  readonly salt1: number;
  readonly salt2: number;
  readonly frames: number;
  readonly pageSize: number;
  readonly page: number;
  readonly sum: number;
  /** Of the store, that the file itself has; 0 where it has none. */
  readonly generation: number;
  /** A sum of that page as the file itself had it, without the log; 0 where that is not known. */
  readonly before: number;
}

/** Bytes: less than a sector, so that it is written as a whole. */
export const MARK_BYTES = 64;
const MAGIC = Buffer.from('rdsmark1');

/** @param owner whose mark it is: that of another file says nothing */
export function markBytes(mark: Mark, owner: string): Buffer {
  const bytes = Buffer.alloc(MARK_BYTES);
  MAGIC.copy(bytes);
  ownerSum(owner).copy(bytes, 8);
  bytes.writeUInt32BE(mark.isClean ? 1 : 0, 16);
  bytes.writeDoubleBE(mark.cleanAt, 20);
  for (const [n, value] of [
    mark.salt1,
    mark.salt2,
    mark.frames,
    mark.pageSize,
    mark.page,
    mark.sum,
    mark.generation,
    mark.before,
  ].entries())
    bytes.writeUInt32BE(value, 28 + 4 * n);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, MARK_BYTES - 4)), MARK_BYTES - 4);
  return bytes;
}

/** Whether a mark, of whomever, says that there is a log. */
export function isOfLog(bytes: Buffer | null): boolean {
  return bytes?.length === MARK_BYTES && bytes.subarray(0, 8).equals(MAGIC) && bytes.readUInt32BE(16) === 0;
}

/** @returns `null` for what is no mark, or another's: it proves nothing */
export function markFrom(bytes: Buffer | null, owner: string): Mark | null {
  if (bytes?.length !== MARK_BYTES || !bytes.subarray(0, 8).equals(MAGIC) || !bytes.subarray(8, 16).equals(ownerSum(owner)))
    return null;
  if (bytes.readUInt32BE(MARK_BYTES - 4) !== crc32(bytes.subarray(0, MARK_BYTES - 4))) return null;
  const [salt1, salt2, frames, pageSize, page, sum, generation, before] = Array.from({ length: 8 }, (_, n) =>
    bytes.readUInt32BE(28 + 4 * n),
  ) as [number, number, number, number, number, number, number, number];
  const isClean = bytes.readUInt32BE(16) === 1;
  return { isClean, cleanAt: bytes.readDoubleBE(20), salt1, salt2, frames, pageSize, page, sum, generation, before };
}

const ownerSum = (owner: string): Buffer => createHash('sha256').update(owner).digest().subarray(0, 8);
