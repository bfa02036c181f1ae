import { ServiceError } from '../../../errors/fail.ts';
import { type PassingFault, passingFaultOfSystem, unavailableSince } from '../../../errors/system-faults.ts';

/** A value exceeds the length limit. */
export const SQLITE_TOOBIG = 18;
/** Another row has the value of a unique index. */
export const SQLITE_CONSTRAINT_UNIQUE = 2067;
/** Another connection holds a lock that is needed. */
export const SQLITE_BUSY = 5;

/** A transient fault of the store. Reference: faults.md#passing-faults. */
export interface StoreFault {
  readonly kind: PassingFault;
  /** SQLite's extended result code; 0 for an error of the operating system or Node. */
  readonly code: number;
  /** The connection may be unusable, or its cached data wrong: the file must be reopened. */
  readonly isBroken: boolean;
}

/** Receives the faults of a connection. */
export interface ConnectionEvents {
  /** A transient fault. */
  met(fault: StoreFault, error: unknown): void;
  /**
   * Called before the next statement outside a transaction when the connection is unusable: reopens it (`reopen`), or throws if that is not possible
   * yet. @throws unavailable
   */
  mend(): void;
}

/** By SQLite's primary result code (https://sqlite.org/rescode.html). Codes that are missing here are programming errors or caused by clients. */
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
  [15, 'the store is busy'], // PROTOCOL: other processes held the WAL locks for seconds
  [22, 'the disk is full'], // NOLFS: the file size limit is reached
  [26, 'the store is damaged'], // NOTADB
]);

/** By extended result code, if that is more specific. */
const extendedKinds: ReadonlyMap<number, PassingFault> = new Map([
  [1032, 'the store is missing'], // READONLY_DBMOVED
  [3082, 'no memory is left'], // IOERR_NOMEM
  [4874, 'the disk is full'], // IOERR_SHMSIZE: the WAL index could not grow
  [8202, 'the store is damaged'], // IOERR_DATA
]);

/** Kinds of faults after which the connection is still usable. */
const harmless: ReadonlySet<PassingFault> = new Set(['the store is busy', 'the disk is full', 'no memory is left']);

/** Error codes of Node for a closed connection and its statements, and of the operating system for a loop of links. */
const unusableCodes: ReadonlySet<unknown> = new Set(['ERR_INVALID_STATE', 'ELOOP']);

/** Extended codes of a COMMIT that fails after everything was written to the file: FSYNC, DIR_FSYNC, SHMOPEN, SHMSIZE, SHMLOCK, SHMMAP. */
const afterWriting: ReadonlySet<number> = new Set([1034, 1290, 4618, 4874, 5130, 5386]);

/**
 * Classifies an error of SQLite, of the operating system, or one that was mapped before.
 * @returns `null` for errors caused by clients and programming errors
 */
export function storeFaultOf(error: unknown): StoreFault | null {
  if (error instanceof ServiceError) return error.cause === undefined ? null : storeFaultOf(error.cause);
  const { errcode, code } = (error ?? {}) as { readonly errcode?: unknown; readonly code?: unknown };
  if (typeof errcode === 'number') {
    const kind = extendedKinds.get(errcode) ?? kinds.get(errcode & 0xff);
    return kind === undefined ? null : { kind, code: errcode, isBroken: !harmless.has(kind) };
  }
  if (unusableCodes.has(code)) return { kind: 'the store cannot be opened', code: 0, isBroken: true };
  const kind = passingFaultOfSystem(error);
  return kind && { kind, code: 0, isBroken: !harmless.has(kind) };
}

/** Returns the error in the form in which it leaves the engine: `unavailable` for a transient fault, any other unchanged. */
export function mapError(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  return storeFaultOf(error) ? unavailableSince(error) : error;
}

/** Runs work that uses SQLite or the file system. @throws unavailable for a transient fault; any other error unchanged */
export function withMappedErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw mapError(error);
  }
}

/** Returns whether another connection holds the lock that a statement needs. */
export function isBusy(error: unknown): boolean {
  const errcode = (error as { readonly errcode?: unknown } | null)?.errcode;
  return typeof errcode === 'number' && (errcode & 0xff) === SQLITE_BUSY;
}

/** Returns `unavailable`: another process has held the write lock for too long. */
export function busyError(): ServiceError {
  return unavailableSince(Object.assign(new Error('another process holds the write lock'), { errcode: SQLITE_BUSY }));
}

/** Returns `unavailable`: the file is not at its path. */
export function missingError(path: string): ServiceError {
  return unavailableSince(Object.assign(new Error(`${path} is missing or was replaced`), { errcode: 1032 }));
}

/** Returns whether a COMMIT failed after everything was written to the file, so that a crash may keep it. */
export function failedAfterWriting(error: unknown): boolean {
  return afterWriting.has(storeFaultOf(error)?.code ?? 0);
}

/** A fault in the form in which a thread sends it to the event loop. */
export interface SentFault {
  readonly errcode?: number;
  readonly code?: string;
  readonly text: string;
}

/** Converts a transient fault to that form. */
export function sentFault(error: unknown): SentFault {
  const cause = (error instanceof ServiceError ? error.cause : error) as { errcode?: number; code?: string; message?: string };
  return {
    text: cause?.message ?? String(error),
    ...(typeof cause?.errcode === 'number' ? { errcode: cause.errcode } : {}),
    ...(typeof cause?.code === 'string' ? { code: cause.code } : {}),
  };
}

/** Converts it back. */
export function receivedFault({ text, ...codes }: SentFault): Error {
  return Object.assign(new Error(text), codes);
}

/** Time after which it is logged that another process keeps the store busy. */
const LONG_BUSY_MS = 1_000;

/** Measures how long another process has kept a store busy. Opening or closing a file locks it for a moment, which is not reported. */
export class BusyTime {
  #since = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** Call when the store is busy. @returns whether that has lasted long enough to be logged */
  isLong(): boolean {
    const now = performance.now();
    if (now - this.#last > LONG_BUSY_MS) this.#since = now;
    this.#last = now;
    return now - this.#since >= LONG_BUSY_MS;
  }
}
