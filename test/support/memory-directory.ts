/** Keeps the files of tests in memory if there is room, because no test depends on the cost of a disk flush. */
import { accessSync, constants, statfsSync } from 'node:fs';
import { freemem } from 'node:os';

const DIRECTORY = '/dev/shm';
/** Several times what all concurrently running tests write. */
const ROOM_BYTES = 8 * 1024 ** 3;

/** Makes this process and its children use temporary directories in memory, unless TMPDIR is set or memory is short. */
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
