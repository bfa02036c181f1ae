/** Where tests keep what they write: in memory where there is room, since none of them asks what a flush of the disk costs. */
import { accessSync, constants, statfsSync } from 'node:fs';
import { freemem } from 'node:os';

const DIRECTORY = '/dev/shm';
/** What all tests that run at a time write, several times over. */
const ROOM_BYTES = 8 * 1024 ** 3;

/** Has this process and those that it starts make their temporary directories in memory, unless it was told where, or memory is short. */
export function useMemoryDirectory(): void {
  if (process.env.TMPDIR !== undefined || freemem() < ROOM_BYTES) return;
  try {
    accessSync(DIRECTORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(DIRECTORY);
    if (bavail * bsize >= ROOM_BYTES) process.env.TMPDIR = DIRECTORY;
  } catch {
    // There is no such file system.
  }
}
