/** Mutual exclusion of processes by a lock file. Plain JavaScript without dependencies, because it must run on an older Node. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 200;
/** Age in milliseconds from which a lock is ignored: its process id may have been given to another process. */
const MAX_AGE_MS = 15 * 60_000;
/** Time in milliseconds between the creation of a lock file and its content. */
const CREATION_MS = 10_000;

/**
 * Runs work in one process at a time. A lock whose process has ended is taken over.
 *
 * @template T
 * @param {string} file the lock file.
 * @param {(pass: (pid: number) => void) => Promise<T>} work `pass`: the lock is that of another process from now on, which may outlive this one.
 * @param {() => void} [onWait] called once if another process holds the lock.
 * @returns {Promise<T>}
 * @throws errors of the file system, and those of the work
 */
export async function exclusively(file, work, onWait) {
  for (let isFirst = true; !take(file); isFirst = false) {
    if (isFirst) onWait?.();
    await wait(POLL_MS);
  }
  try {
    return await work((pid) => writeFileSync(file, String(pid)));
  } finally {
    rmSync(file, { force: true });
  }
}

/** @param {string} file */
function take(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  if (!isHeld(file)) rmSync(file, { force: true });
  return false;
}

/** @param {string} file */
function isHeld(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    const age = Date.now() - statSync(file).mtimeMs;
    if (!(pid > 0)) return age < CREATION_MS;
    if (age > MAX_AGE_MS) return false;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** @param {unknown} error */
const codeOf = (error) => /** @type {NodeJS.ErrnoException} */ (error).code;
