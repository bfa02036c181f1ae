import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/** Bytes of the header of a WAL, and of each of its frames (https://sqlite.org/fileformat2.html#walformat). */
const WAL_HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;

/** The header of a WAL. The salts distinguish its series of frames from every other; the first salt grows by one with each series. */
export interface WalHeader {
  readonly pageSize: number;
  readonly salt1: number;
  readonly salt2: number;
}

/** The last frame of a commit. */
export interface LastFrame {
  readonly page: number;
  readonly salt1: number;
  readonly salt2: number;
  readonly content: Buffer;
}

/** Error codes of the operating system for a path without a file. */
const noFile: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP']);

/** Reads bytes of a file at an offset; fewer if it ends earlier. `null` if there is no such file. */
export function bytesAt(path: string, place: number, length: number): Buffer | null {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    return readAt(fd, place, length);
  } catch (error) {
    if (noFile.has((error as NodeJS.ErrnoException).code)) return null;
    throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

export function readAt(fd: number, place: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, place));
}

/** Parses the header of a WAL; `null` if SQLite would consider the WAL empty. */
export function walHeader(bytes: Buffer | null): WalHeader | null {
  if (!bytes || bytes.length < WAL_HEADER_BYTES) return null;
  const magic = bytes.readUInt32BE(0);
  if ((magic & 0xfffffffe) !== (MAGIC & 0xfffffffe) || !isWhole(bytes, (magic & 1) === 1)) return null;
  return { pageSize: bytes.readUInt32BE(8), salt1: bytes.readUInt32BE(16), salt2: bytes.readUInt32BE(20) };
}

export const headerIn = (fd: number): WalHeader | null => walHeader(readAt(fd, 0, WAL_HEADER_BYTES));

export const headerOf = (path: string): WalHeader | null => walHeader(bytesAt(path, 0, WAL_HEADER_BYTES));

type Sum = readonly [number, number];

/** Continues SQLite's checksum over further bytes. */
function summed(bytes: Buffer, isBigEndian: boolean, [one, two]: Sum = [0, 0]): Sum {
  const word = (at: number) => (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at));
  let [a, b] = [one, two];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + word(at) + b) >>> 0;
    b = (b + word(at + 4) + a) >>> 0;
  }
  return [a, b];
}

function isWhole(bytes: Buffer, isBigEndian: boolean): boolean {
  const [a, b] = summed(bytes.subarray(0, 24), isBigEndian);
  return bytes.readUInt32BE(24) === a && bytes.readUInt32BE(28) === b;
}

/** Returns where a frame of a WAL begins. @param index from 0 */
export const frameOffset = (index: number, pageSize: number): number =>
  WAL_HEADER_BYTES + index * (FRAME_HEADER_BYTES + pageSize);

/** Returns whether this many frames of a WAL are valid for SQLite. */
export function hasFrames(path: string, count: number): boolean {
  const first = bytesAt(path, 0, WAL_HEADER_BYTES);
  const header = walHeader(first);
  if (!first || !header) return false;
  const isBigEndian = (first.readUInt32BE(0) & 1) === 1;
  const fd = openSync(path, 'r');
  try {
    let sum: Sum = [first.readUInt32BE(24), first.readUInt32BE(28)];
    const size = FRAME_HEADER_BYTES + header.pageSize;
    for (let n = 0; n < count; n++) {
      const frame = readAt(fd, frameOffset(n, header.pageSize), size);
      if (frame.length < size || !frame.subarray(8, 16).equals(first.subarray(16, 24))) return false;
      sum = summed(frame.subarray(FRAME_HEADER_BYTES), isBigEndian, summed(frame.subarray(0, 8), isBigEndian, sum));
      if (frame.readUInt32BE(16) !== sum[0] || frame.readUInt32BE(20) !== sum[1]) return false;
    }
    return true;
  } finally {
    closeSync(fd);
  }
}

/** Reads a frame. @param frame from 1 @returns `null` if the WAL ends before it */
export function frameIn(fd: number, pageSize: number, frame: number): LastFrame | null {
  const size = FRAME_HEADER_BYTES + pageSize;
  const bytes = readAt(fd, frameOffset(frame - 1, pageSize), size);
  if (bytes.length < size) return null;
  const content = bytes.subarray(FRAME_HEADER_BYTES);
  return { page: bytes.readUInt32BE(0), salt1: bytes.readUInt32BE(8), salt2: bytes.readUInt32BE(12), content };
}

/** State of a file and its WAL, kept in a file beside them (docs/adr/0020). */
export interface Mark {
  /** Whether everything was in the file and there was no WAL. */
  readonly isClean: boolean;
  /** Everything written until then is in the file; milliseconds since 1970. */
  readonly cleanAt: number;
  /** Of the WAL: its salts, the number of committed frames, and the page number and checksum of the last one. */
  readonly salt1: number;
  readonly salt2: number;
  readonly frames: number;
  readonly pageSize: number;
  readonly page: number;
  readonly sum: number;
  /** Generation of the store in the file itself; 0 if it has none. */
  readonly generation: number;
  /** Checksum of that page in the file itself, without the WAL; 0 if unknown. */
  readonly before: number;
}

/** Less than a sector, so that it is written atomically. */
export const MARK_BYTES = 64;
const MARK_MAGIC = Buffer.from('rdsmark1');

/** Encodes a mark. @param owner system of the file: a mark of another file is not valid for it */
export function markBytes(mark: Mark, owner: string): Buffer {
  const bytes = Buffer.alloc(MARK_BYTES);
  MARK_MAGIC.copy(bytes);
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

/** Returns whether a mark, of any store, states that there is a WAL. */
export function isOfLog(bytes: Buffer | null): boolean {
  return bytes?.length === MARK_BYTES && bytes.subarray(0, 8).equals(MARK_MAGIC) && bytes.readUInt32BE(16) === 0;
}

/** Decodes a mark. @returns `null` if it is not a mark, or another system's: it proves nothing */
export function markFrom(bytes: Buffer | null, owner: string): Mark | null {
  if (bytes?.length !== MARK_BYTES || !bytes.subarray(0, 8).equals(MARK_MAGIC) || !bytes.subarray(8, 16).equals(ownerSum(owner)))
    return null;
  if (bytes.readUInt32BE(MARK_BYTES - 4) !== crc32(bytes.subarray(0, MARK_BYTES - 4))) return null;
  const [salt1, salt2, frames, pageSize, page, sum, generation, before] = Array.from({ length: 8 }, (_, n) =>
    bytes.readUInt32BE(28 + 4 * n),
  ) as [number, number, number, number, number, number, number, number];
  const isClean = bytes.readUInt32BE(16) === 1;
  return { isClean, cleanAt: bytes.readDoubleBE(20), salt1, salt2, frames, pageSize, page, sum, generation, before };
}

const ownerSum = (owner: string): Buffer => createHash('sha256').update(owner).digest().subarray(0, 8);
