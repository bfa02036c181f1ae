import { closeSync, constants, fstatSync, fsync, openSync, statSync, writeSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { StoreRefused } from '../../identity.ts';
import { prepare, readWalLength, type WalLength, walLengthQuery } from '../connection/statements.ts';
import { identityInFile, verifyFile } from '../schema/identity.ts';
import {
  bytesAt,
  frameIn,
  hasFrames,
  headerIn,
  headerOf,
  MARK_BYTES,
  type Mark,
  markBytes,
  markFrom,
  readAt,
} from './wal-header.ts';

/** Maximum number of WAL restarts between a mark restored by a power cut and the present. */
const MAX_RESETS = 2 ** 20;

/** Interval of marks under steady writes: a crash in between leaves the earlier mark. */
const MARK_INTERVAL_MS = 10;

/** How many frames of a WAL are committed, and how many of these are in the file. */
interface Lengths {
  readonly frames: number;
  readonly inFile: number;
}

/** Reads them from SQLite. */
type ReadLengths = () => Lengths;

/**
 * Records the length and identity of a file's WAL after the last commit (docs/adr/0020). A WAL of another file must not be applied, since that would
 * destroy the file; one that was truncated or removed has lost writes, which SQLite does not detect.
 */
export class WalMark {
  readonly #path: string;
  readonly #owner: string;
  #cleanAt = Date.now();
  /** Generation of the store now, and in the file itself. */
  #generation = 0;
  #inFile = 0;
  #fd: number | undefined;
  #log: number | undefined;
  /** The file. Close it only after SQLite has closed it (`before`). */
  #file: number | undefined;
  #isSynced = false;
  /** The mark of the last commit, and when it was made. */
  #last: Mark | null;
  #lastAt = Date.now();
  #lastGeneration = 0;
  /** When the mark was last written, by `performance.now()`, and the pending one. */
  #writtenAt = Number.NEGATIVE_INFINITY;
  #due: { log: WalLength; readonly timer: NodeJS.Timeout } | undefined;
  /** Whether there was no WAL although its content was not in the file. */
  readonly #isLost: boolean;

  private constructor(path: string, owner: string, last: Mark | null) {
    this.#path = path;
    this.#owner = owner;
    this.#last = last;
    this.#isLost = last !== null && hadLog(last) && headerOf(logOf(path)) === null && !wasCopied(path, last);
    if (last) this.#cleanAt = last.cleanAt;
    if (last) this.#inFile = this.#generation = this.#lastGeneration = last.generation;
  }

  /**
   * Reads the mark. Call before SQLite opens the file in this process: the operating system releases SQLite's locks on a file when any other
   * descriptor of it is closed in the process, and another process that closes the file would then remove the WAL in use.
   * @param owner system of the file
   * @throws StoreRefused if the WAL beside the file is another's or an earlier one
   */
  static before(path: string, owner: string): WalMark {
    const mark = markFrom(bytesAt(markOf(path), 0, MARK_BYTES + 1), owner);
    // Applying a WAL to an older file than its own would mix both.
    if (mark && (identityInFile(path)?.generation ?? mark.generation) < mark.generation)
      throw new StoreRefused('older', headerOf(logOf(path)) ? logOf(path) : path);
    if (mark) checkLog(path, mark);
    return new WalMark(path, owner, mark);
  }

  /**
   * Returns the generation of a file that was closed with everything in it and that no process has open; `null` for every other.
   * @param owner system of the file
   */
  static closedGeneration(path: string, owner: string): number | null {
    const mark = markFrom(bytesAt(markOf(path), 0, MARK_BYTES + 1), owner);
    return mark?.isClean && !statSync(logOf(path), { throwIfNoEntry: false })?.size ? mark.generation : null;
  }

  /**
   * Call when SQLite has opened the file and nothing has been written yet.
   * @returns the time from which writes may be missing, in milliseconds since 1970; `null` if there is no sign of that
   */
  missingSince(db: DatabaseSync): number | null {
    const mark = this.#last;
    if (!mark || !hadLog(mark)) return null;
    const isSame = () => {
      const header = headerOf(logOf(this.#path));
      return header !== null && header.salt1 === mark.salt1 && header.salt2 === mark.salt2;
    };
    // Another process may restart the WAL meanwhile.
    if (isSame()) return lengthsOf(db)().frames < mark.frames && isSame() ? mark.cleanAt : null;
    return headerOf(logOf(this.#path)) === null && this.#isLost ? mark.cleanAt : null;
  }

  /**
   * Returns the minimum generation of a store whose WAL was truncated or removed, losing the generation that the registry knows; `null` if it was
   * not.
   */
  generationWithoutLog(): number | null {
    const mark = this.#last;
    if (!mark || !hadLog(mark)) return null;
    const header = headerOf(logOf(this.#path));
    const isShort = header
      ? header.salt1 === mark.salt1 && header.salt2 === mark.salt2 && !hasFrames(logOf(this.#path), mark.frames)
      : this.#isLost;
    return isShort ? mark.generation : null;
  }

  /** Call when another file was opened in place of the served one, which no connection has open any more. */
  fileReplaced(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  /** Call when the store has another generation, durably. */
  setGeneration(generation: number): void {
    this.#generation = generation;
  }

  /** Call when a commit is durable. A mark that cannot be written is skipped: the earlier one is still valid. */
  committed(db: DatabaseSync): void {
    try {
      this.#record(lengthsOf(db));
    } catch {
      // E.g. the disk is full; the next commit tries again.
    }
  }

  /**
   * Rate-limited `committed` for frequent commits; the last one is always recorded, after a short delay. Never throws.
   * @param log the WAL with the last durable commit; since then it may have got frames that are not durable
   */
  committedOften(log: WalLength): void {
    const inMs = this.#writtenAt + MARK_INTERVAL_MS - performance.now();
    if (this.#due) this.#due.log = log;
    else this.#due = { log, timer: setTimeout(() => this.#writeDue(), Math.max(0, inMs)).unref() };
    if (inMs <= 0) this.#writeDue();
  }

  #writeDue(): void {
    const due = this.#due;
    this.#due = undefined;
    if (!due) return;
    clearTimeout(due.timer);
    try {
      this.#record(() => lengthsIn(due.log));
    } catch {
      // As in `committed`.
    }
  }

  #record(readLengths: ReadLengths): void {
    const log = this.#openLog();
    const header = headerIn(log);
    const { frames, inFile } = readLengths();
    if (!header || frames === 0) return;
    const frame = frameIn(log, header.pageSize, frames);
    // Another process is writing the first frames of a new series.
    if (!frame || frame.salt1 !== header.salt1 || frame.salt2 !== header.salt2) return;
    const last = this.#last;
    const isSame = last !== null && last.salt1 === header.salt1 && last.salt2 === header.salt2;
    // SQLite restarts the WAL only when all of it is in the file.
    if (last && (isSame ? inFile >= last.frames : !last.isClean)) {
      this.#cleanAt = this.#lastAt;
      this.#inFile = this.#lastGeneration;
    }
    const { content, page } = frame;
    this.#file ??= openSync(this.#path, 'r');
    const before = sumOfPage(readAt(this.#file, (page - 1) * header.pageSize, header.pageSize), header.pageSize);
    const of = { isClean: false, cleanAt: this.#cleanAt, generation: this.#inFile };
    const fd = this.#write({ ...of, ...header, frames, page, sum: crc32(content), before });
    if (!this.#isSynced)
      fsync(fd, (error) => {
        this.#isSynced = error === null;
      });
    this.#isSynced = true;
    this.#lastAt = Date.now();
    this.#lastGeneration = this.#generation;
    this.#writtenAt = performance.now();
  }

  /** Call before SQLite closes the file: makes the mark of the last commit durable. Never rejects. */
  async closing(): Promise<void> {
    this.#writeDue();
    // If it fails, the disk has failed.
    if (this.#fd !== undefined) await synced(this.#fd).catch(() => {});
  }

  /** Call when SQLite has closed the file: if no other process has it open, everything is in the file. Never rejects. */
  async closed(): Promise<void> {
    try {
      const isClean = !statSync(logOf(this.#path), { throwIfNoEntry: false })?.size;
      if (isClean && statSync(this.#path, { throwIfNoEntry: false })) {
        const none = { salt1: 0, salt2: 0, frames: 0, pageSize: 0, page: 0, sum: 0, before: 0 };
        await synced(this.#write({ ...none, isClean: true, cleanAt: Date.now(), generation: this.#generation }));
      }
    } catch {
      // The old mark stays: it states that there is a WAL, and which page must be in the file if there is none.
    } finally {
      for (const fd of [this.#fd, this.#log, this.#file]) if (fd !== undefined) closeSync(fd);
      this.#fd = this.#log = this.#file = undefined;
    }
  }

  /** @returns the descriptor of the mark */
  #write(mark: Mark): number {
    this.#last = mark;
    this.#fd ??= openSync(markOf(this.#path), constants.O_RDWR | constants.O_CREAT, 0o600);
    writeSync(this.#fd, markBytes(mark, this.#owner), 0, MARK_BYTES, 0);
    return this.#fd;
  }

  /** The WAL may be another file once the last connection was closed and another one opened. */
  #openLog(): number {
    if (this.#log !== undefined && fstatSync(this.#log).nlink === 0) {
      closeSync(this.#log);
      this.#log = undefined;
    }
    this.#log ??= openSync(logOf(this.#path), 'r');
    return this.#log;
  }
}

/** Flushes a file on another thread. */
const synced = promisify(fsync);

const logOf = (path: string) => `${path}-wal`;
const markOf = (path: string) => `${path}-mark`;

const prepared = new WeakMap<DatabaseSync, StatementSync>();

function lengthsOf(db: DatabaseSync): ReadLengths {
  const statement = prepared.get(db) ?? prepare(db, walLengthQuery);
  prepared.set(db, statement);
  return () => lengthsIn(readWalLength(statement));
}

const lengthsIn = ({ pages, copied }: WalLength): Lengths => ({ frames: Math.max(0, pages), inFile: Math.max(0, copied) });

/** Returns whether there was a WAL when a mark was made. */
const hadLog = ({ isClean, frames }: Mark): boolean => !isClean && frames > 0;

/** @throws StoreRefused if the WAL beside a file is another's */
function checkLog(path: string, mark: Mark): void {
  const header = headerOf(logOf(path));
  if (!header) return;
  if (hadLog(mark)) {
    const resets = (header.salt1 - mark.salt1) >>> 0;
    if (resets === 0 ? header.salt2 === mark.salt2 : resets < MAX_RESETS) return;
    const isEarlier = (mark.salt1 - header.salt1) >>> 0 < MAX_RESETS;
    if (!isInFile(path, mark)) throw new StoreRefused(isEarlier ? 'older' : 'foreign', logOf(path));
  }
  // Either another program (an older version or a tool) opened the file after all of the WAL was in it, or the WAL is another's.
  if (verifyFile(path) !== null) throw new StoreRefused('foreign', logOf(path));
}

/** Returns the checksum of a page in the file; 1 if it is not there. */
const sumOfPage = (content: Buffer, pageSize: number): number => (content.length === pageSize && crc32(content)) || 1;

/** Returns whether a removed WAL had been copied into the file: the page has changed, possibly by a commit after the mark. */
function wasCopied(path: string, mark: Mark): boolean {
  const { page, pageSize, before } = mark;
  const content = bytesAt(path, (page - 1) * pageSize, pageSize);
  if (content?.length !== pageSize) return false;
  return isInFile(path, mark) || (before !== 0 && sumOfPage(content, pageSize) !== before);
}

/** Returns whether the last recorded commit is in the file itself. */
function isInFile(path: string, { page, pageSize, sum }: Mark): boolean {
  const content = bytesAt(path, (page - 1) * pageSize, pageSize);
  return content !== null && content.length === pageSize && crc32(content) === sum;
}
