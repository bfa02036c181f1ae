import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { registerFunctions } from '../sql/functions.ts';

/** Bytes that the file of the log keeps once it has begun anew. */
const WAL_KEPT_BYTES = 32 * 1024 * 1024;
/** Bytes of a value that a read may build: an aggregation could put whole tables into one. Stored ones come from bodies, which are smaller. */
export const MAX_VALUE_BYTES = 64 * 1024 * 1024;

/** How a file is opened. */
export interface Opening {
  /** `write` makes the file where there is none. */
  readonly mode: 'write' | 'read';
  /** How long statements wait for the lock of another connection. */
  readonly timeoutMs: number;
  /** How much of the file is kept in memory at the most. */
  readonly pagesKiB: number;
  /** Asked now and then by interruptible statements; may throw to end the statement. */
  readonly tick?: () => void;
}

/** Opens a file with the functions that statements use. @throws what SQLite says */
export function openDatabase(file: string | URL, { mode, timeoutMs, pagesKiB, tick }: Opening): DatabaseSync {
  const isReader = mode === 'read';
  const db = new DatabaseSync(file, {
    readOnly: isReader,
    timeout: timeoutMs,
    enableForeignKeyConstraints: false,
    ...(isReader ? { limits: { length: MAX_VALUE_BYTES } } : {}),
  });
  try {
    // FULL: an acknowledged write survives a power cut; group commit pays for it. Threads empty the log (checkpoints.ts).
    if (!isReader)
      db.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${WAL_KEPT_BYTES}`);
    db.exec(`PRAGMA cache_size = -${pagesKiB}`);
    registerFunctions(db, tick ? { tick } : {});
    return db;
  } catch (error) {
    closeQuietly(db);
    throw error;
  }
}

/** A file system that fails now may fail a close, too: what was open is given up all the same. */
export function closeQuietly(db: DatabaseSync): void {
  try {
    db.close();
  } catch {
    // Nothing else is to be done about it.
  }
}

/** A file for SQLite to open that it is not to make where there is none. */
export function existingFile(path: string): URL {
  return addressOf(path, 'mode', 'rw');
}

/** A file as it lies: its log of changes, and what others do meanwhile, are not looked at. For reading alone. */
export function fileAlone(path: string): URL {
  return addressOf(path, 'immutable', '1');
}

function addressOf(path: string, name: string, value: string): URL {
  const address = pathToFileURL(path);
  address.searchParams.set(name, value);
  return address;
}
