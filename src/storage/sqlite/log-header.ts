import { closeSync, openSync, readSync } from 'node:fs';

/** Bytes of the header of a log of changes (WAL), and of each of its frames (https://sqlite.org/fileformat2.html#walformat). */
const HEADER = 32;
const FRAME_HEADER = 24;
const MAGIC = 0x377f0682;

/** What a log of changes says of itself. Numbers that tell one series of frames from every other are its salts; the first grows by one each. */
export interface LogHeader {
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

/** Reads a file's bytes at a place; fewer where it ends. `null` where there is no such file. */
export function bytesAt(path: string, place: number, length: number): Buffer | null {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    return readAt(fd, place, length);
  } finally {
    closeSync(fd);
  }
}

export function readAt(fd: number, place: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, place));
}

/** Reads the header of a log; `null` where SQLite would take the log for empty. */
export function logHeader(bytes: Buffer | null): LogHeader | null {
  if (!bytes || bytes.length < HEADER) return null;
  const magic = bytes.readUInt32BE(0);
  if ((magic & 0xfffffffe) !== (MAGIC & 0xfffffffe) || !isWhole(bytes, (magic & 1) === 1)) return null;
  return { pageSize: bytes.readUInt32BE(8), salt1: bytes.readUInt32BE(16), salt2: bytes.readUInt32BE(20) };
}

export const headerIn = (fd: number): LogHeader | null => logHeader(readAt(fd, 0, HEADER));

export const headerOf = (path: string): LogHeader | null => logHeader(bytesAt(path, 0, HEADER));

/** The checksum of the header, as SQLite computes it. */
function isWhole(bytes: Buffer, isBigEndian: boolean): boolean {
  const word = (at: number) => (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at));
  let [one, two] = [0, 0];
  for (let at = 0; at < 24; at += 8) {
    one = (one + word(at) + two) >>> 0;
    two = (two + word(at + 4) + one) >>> 0;
  }
  return bytes.readUInt32BE(24) === one && bytes.readUInt32BE(28) === two;
}

/** Reads a frame. @param frame from 1 @returns `null` where the log ends before */
export function frameIn(fd: number, pageSize: number, frame: number): LastFrame | null {
  const size = FRAME_HEADER + pageSize;
  const bytes = readAt(fd, HEADER + (frame - 1) * size, size);
  if (bytes.length < size) return null;
  const content = bytes.subarray(FRAME_HEADER);
  return { page: bytes.readUInt32BE(0), salt1: bytes.readUInt32BE(8), salt2: bytes.readUInt32BE(12), content };
}
