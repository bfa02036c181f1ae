import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { type FunctionOptions, registerFunctions } from '../sql/functions.ts';

/** Size to which the WAL file is truncated after a restart. */
const MAX_IDLE_WAL_BYTES = 32 * 1024 * 1024;
/**
 * Maximum size of a value that a read may build: an aggregation could collect whole tables in one. Stored values come from bodies, which are smaller.
 */
export const MAX_VALUE_BYTES = 64 * 1024 * 1024;

/** How a file is opened. */
export interface Opening extends FunctionOptions {
  /** `write` creates the file if there is none. */
  readonly mode: 'write' | 'read';
  /** How long statements wait for the lock of another connection. */
  readonly timeoutMs: number;
  /** Size of the page cache. */
  readonly pagesKiB: number;
}

/** Opens a file and registers the functions that statements use. @throws SQLite's error */
export function openDatabase(file: string | URL, { mode, timeoutMs, pagesKiB, ...functions }: Opening): DatabaseSync {
  const isReader = mode === 'read';
  const db = new DatabaseSync(file, {
    readOnly: isReader,
    timeout: timeoutMs,
    enableForeignKeyConstraints: false,
    ...(isReader ? { limits: { length: MAX_VALUE_BYTES } } : {}),
  });
  try {
    // FULL: an acknowledged write survives a power cut; group commit compensates for the cost. Threads checkpoint the WAL (checkpoints.ts).
    if (!isReader)
      db.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${MAX_IDLE_WAL_BYTES}`);
    db.exec(`PRAGMA cache_size = -${pagesKiB}`);
    registerFunctions(db, functions);
    return db;
  } catch (error) {
    closeQuietly(db);
    throw error;
  }
}

/** Closes a database. A failing file system may make the close fail too; the handle is given up in any case. */
export function closeQuietly(db: DatabaseSync): void {
  try {
    db.close();
  } catch {
    // Nothing else can be done.
  }
}

/** Returns the address of a file that SQLite shall open but not create. */
export function existingFile(path: string): URL {
  return addressOf(path, 'mode', 'rw');
}

/** Returns the address of a file by itself: its WAL and concurrent changes are ignored. Read-only. */
export function fileAlone(path: string): URL {
  return addressOf(path, 'immutable', '1');
}

function addressOf(path: string, name: string, value: string): URL {
  const address = pathToFileURL(path);
  address.searchParams.set(name, value);
  return address;
}
