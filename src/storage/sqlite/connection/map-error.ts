import { ServiceError } from '../../../errors/fail.ts';
import { type PassingFault, passingFaultOfSystem, unavailableSince } from '../../../errors/system-faults.ts';

/** What SQLite says of a value that is longer than it may be. */
export const SQLITE_TOOBIG = 18;
/** Another connection holds the lock that is needed. */
export const SQLITE_BUSY = 5;

/** A fault of the store that can pass (CONTRACT "Faults of the store"). */
export interface StoreFault {
  readonly kind: PassingFault;
  /** SQLite's extended result code; 0 where the operating system or Node told of the fault. */
  readonly code: number;
  /** The connection may be of no more use, or what it has in memory wrong: the file is to be opened anew. */
  readonly isBroken: boolean;
}

/** By SQLite's primary result code (https://sqlite.org/rescode.html). Those that are not here are faults of ours, or what clients did. */
const kinds: ReadonlyMap<number, PassingFault> = new Map([
  [3, 'the storage is read-only'], // PERM
  [SQLITE_BUSY, 'the store is busy'],
  [6, 'the store is busy'], // LOCKED
  [7, 'no memory is left'], // NOMEM
  [8, 'the storage is read-only'], // READONLY
  [10, 'an I/O error'], // IOERR
  [11, 'the store is damaged'], // CORRUPT
  [13, 'the disk is full'], // FULL
  [14, 'the store cannot be opened'], // CANTOPEN
  [15, 'the store is busy'], // PROTOCOL: others kept the log's locks for seconds
  [22, 'the disk is full'], // NOLFS: the file may grow no more
  [26, 'the store is damaged'], // NOTADB
]);

/** By the extended code, where that says more. */
const extendedKinds: ReadonlyMap<number, PassingFault> = new Map([
  [1032, 'the store is missing'], // READONLY_DBMOVED
  [3082, 'no memory is left'], // IOERR_NOMEM
  [4874, 'the disk is full'], // IOERR_SHMSIZE: the index of the log could not grow
  [8202, 'the store is damaged'], // IOERR_DATA
]);

/** Of a busy or full store nothing is wrong with the connection. */
const harmless: ReadonlySet<PassingFault> = new Set(['the store is busy', 'the disk is full', 'no memory is left']);

/** What Node says of a connection that is closed, and of statements that went with it; and the system of a file behind a loop of links. */
const notOpen: ReadonlySet<unknown> = new Set(['ERR_INVALID_STATE', 'ELOOP']);

/** Extended codes with which a COMMIT fails after all that it had to write has reached the file: FSYNC, DIR_FSYNC, SHMOPEN, SHMSIZE, SHMLOCK, SHMMAP. */
const afterWriting: ReadonlySet<number> = new Set([1034, 1290, 4618, 4874, 5130, 5386]);

/**
 * What kind of fault of the store an error tells of: SQLite's, the operating system's, or one that was sorted before.
 * @returns `null` for what clients caused, and for faults of ours
 */
export function storeFaultOf(error: unknown): StoreFault | null {
  if (error instanceof ServiceError) return error.cause === undefined ? null : storeFaultOf(error.cause);
  const { errcode, code } = (error ?? {}) as { readonly errcode?: unknown; readonly code?: unknown };
  if (typeof errcode === 'number') {
    const kind = extendedKinds.get(errcode) ?? kinds.get(errcode & 0xff);
    return kind === undefined ? null : { kind, code: errcode, isBroken: !harmless.has(kind) };
  }
  if (notOpen.has(code)) return { kind: 'the store cannot be opened', code: 0, isBroken: true };
  const kind = passingFaultOfSystem(error);
  return kind && { kind, code: 0, isBroken: !harmless.has(kind) };
}

/** The error as it leaves the engine: `unavailable` for a fault that can pass, every other one as it is. */
export function sortedError(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  return storeFaultOf(error) ? unavailableSince(error) : error;
}

/** Runs work of SQLite or of the file system. @throws unavailable for a fault that can pass; any other error as it is */
export function sorting<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw sortedError(error);
  }
}

/** Whether another connection holds the lock that a statement needs. */
export function isBusy(error: unknown): boolean {
  const errcode = (error as { readonly errcode?: unknown } | null)?.errcode;
  return typeof errcode === 'number' && (errcode & 0xff) === SQLITE_BUSY;
}

/** `unavailable`, since another process has kept the write lock for too long. */
export function busyError(): ServiceError {
  return unavailableSince(Object.assign(new Error('another process holds the write lock'), { errcode: SQLITE_BUSY }));
}

/** `unavailable`, since the file is not where it was. */
export function missingError(path: string): ServiceError {
  return unavailableSince(Object.assign(new Error(`${path} is missing or was replaced`), { errcode: 1032 }));
}

/** Whether a COMMIT failed after all that it had to write had reached the file, where it would be found after a crash. */
export function isAfterWriting(error: unknown): boolean {
  return afterWriting.has(storeFaultOf(error)?.code ?? 0);
}

/** A fault on its way from a thread to the event loop. */
export interface SentFault {
  readonly errcode?: number;
  readonly code?: string;
  readonly text: string;
}

/** A passing fault, to be sent from a thread. */
export function sentFault(error: unknown): SentFault {
  const cause = (error instanceof ServiceError ? error.cause : error) as { errcode?: number; code?: string; message?: string };
  return {
    text: cause?.message ?? String(error),
    ...(typeof cause?.errcode === 'number' ? { errcode: cause.errcode } : {}),
    ...(typeof cause?.code === 'string' ? { code: cause.code } : {}),
  };
}

/** The same, received. */
export function receivedFault({ text, ...codes }: SentFault): Error {
  return Object.assign(new Error(text), codes);
}

/** Milliseconds after which the log is told that another process keeps the store busy. */
const BUSY_MS = 1_000;

/** How long another process has kept a store busy: others have the file to themselves for a moment as they open or close it. */
export class BusyTime {
  #since = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** It is busy now. @returns whether it has been for so long that the log is told */
  isLong(): boolean {
    const now = performance.now();
    if (now - this.#last > BUSY_MS) this.#since = now;
    this.#last = now;
    return now - this.#since >= BUSY_MS;
  }
}
