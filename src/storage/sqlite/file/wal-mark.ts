import { closeSync, constants, fstatSync, fsyncSync, openSync, statSync, writeSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { StoreRefused } from '../../identity.ts';
import { prepare, readWalLength, walLengthQuery } from '../connection/statements.ts';
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

/** How often a log may have begun anew between a mark that a power cut brought back and now. */
const MAX_RESETS = 2 ** 20;

/** Milliseconds between two marks under steady writes: a crash within them leaves the earlier one. */
const BETWEEN_MARKS_MS = 10;

/** What SQLite knows of a log: how many frames are committed, and how many of them are in the file. */
type Look = () => { readonly frames: number; readonly inFile: number };

/**
 * Knows of a file's log of changes (WAL) how long it was after the last commit, and what it was (docs/adr/0020): a log that is another's is not
 * to be applied, which would destroy the file, and one that was cut or removed took writes with it, which SQLite would not tell.
 */
export class WalMark {
  readonly #path: string;
  readonly #owner: string;
  #cleanAt = Date.now();
  /** Of the store, now and in the file itself. */
  #generation = 0;
  #inFile = 0;
  #fd: number | undefined;
  #log: number | undefined;
  /** The file: closed only when SQLite has closed it (`before`). */
  #file: number | undefined;
  #isSynced = false;
  /** Of the last commit, and when it was noted. */
  #last: Mark | null;
  #lastAt = Date.now();
  #lastGeneration = 0;
  /** When the mark was last written, by `performance.now()`, and the one that is due. */
  #writtenAt = Number.NEGATIVE_INFINITY;
  #due: { readonly db: DatabaseSync; readonly timer: NodeJS.Timeout } | undefined;
  /** Whether there was no log, and what it had had was not in the file. */
  readonly #isLost: boolean;

  private constructor(path: string, owner: string, last: Mark | null) {
    this.#path = path;
    this.#owner = owner;
    this.#last = last;
    this.#isLost = last !== null && saysLog(last) && headerOf(logOf(path)) === null && !hasGoneIn(path, last);
    if (last) this.#cleanAt = last.cleanAt;
    if (last) this.#inFile = this.#generation = this.#lastGeneration = last.generation;
  }

  /**
   * To be called before SQLite opens the file in this process: the operating system frees the locks that SQLite has on a file when anybody else
   * in the process closes it, and another process that closes the file would then remove the log that is in use.
   * @param owner whose file it is
   * @throws StoreRefused where the log beside the file is not its own, or an earlier one
   */
  static before(path: string, owner: string): WalMark {
    const mark = markFrom(bytesAt(markOf(path), 0, MARK_BYTES + 1), owner);
    // A log over an older file than it belongs to would make a mixture of them.
    if (mark && (identityInFile(path)?.generation ?? mark.generation) < mark.generation)
      throw new StoreRefused('older', headerOf(logOf(path)) ? logOf(path) : path);
    if (mark) checkLog(path, mark);
    return new WalMark(path, owner, mark);
  }

  /**
   * To be called when SQLite has opened the file and nothing was written yet.
   * @returns from when on writes may be missing, in milliseconds since 1970; `null` where nothing says so
   */
  missingSince(db: DatabaseSync): number | null {
    const mark = this.#last;
    if (!mark || !saysLog(mark)) return null;
    const isSame = () => {
      const header = headerOf(logOf(this.#path));
      return header !== null && header.salt1 === mark.salt1 && header.salt2 === mark.salt2;
    };
    // Another process may begin the log anew meanwhile.
    if (isSame()) return lookOf(db)().frames < mark.frames && isSame() ? mark.cleanAt : null;
    return headerOf(logOf(this.#path)) === null && this.#isLost ? mark.cleanAt : null;
  }

  /**
   * The generation that a store has at the least where its log was cut or removed: with it went what the registry knows. `null` where it was not.
   */
  generationWithoutLog(): number | null {
    const mark = this.#last;
    if (!mark || !saysLog(mark)) return null;
    const header = headerOf(logOf(this.#path));
    const isShort = header
      ? header.salt1 === mark.salt1 && header.salt2 === mark.salt2 && !hasFrames(logOf(this.#path), mark.frames)
      : this.#isLost;
    return isShort ? mark.generation : null;
  }

  /** Another file was opened in the place of the one that was served, which nobody has open any more. */
  isAnother(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  /** The store has another generation, durably. */
  isGeneration(generation: number): void {
    this.#generation = generation;
  }

  /** A commit is durable. What cannot be noted is not: an earlier mark says nothing wrong. */
  committed(db: DatabaseSync): void {
    try {
      this.#note(lookOf(db));
    } catch {
      // The disk is full, or worse; the next commit has the same to tell.
    }
  }

  /** The same where commits follow each other fast: the last of them is noted soon. */
  committedOften(db: DatabaseSync): void {
    if (this.#due) return;
    const inMs = this.#writtenAt + BETWEEN_MARKS_MS - performance.now();
    if (inMs <= 0) this.committed(db);
    else this.#due = { db, timer: setTimeout(() => this.#noteDue(), inMs).unref() };
  }

  #noteDue(): void {
    const due = this.#due;
    this.#due = undefined;
    clearTimeout(due?.timer);
    if (due?.db.isOpen) this.committed(due.db);
  }

  #note(look: Look): void {
    const log = this.#openLog();
    const header = headerIn(log);
    const { frames, inFile } = look();
    if (!header || frames === 0) return;
    const frame = frameIn(log, header.pageSize, frames);
    // Another process is writing the first frames of a new series.
    if (!frame || frame.salt1 !== header.salt1 || frame.salt2 !== header.salt2) return;
    const last = this.#last;
    const isSame = last !== null && last.salt1 === header.salt1 && last.salt2 === header.salt2;
    // A log begins anew when all of it is in the file.
    if (last && (isSame ? inFile >= last.frames : !last.isClean)) {
      this.#cleanAt = this.#lastAt;
      this.#inFile = this.#lastGeneration;
    }
    const { content, page } = frame;
    this.#file ??= openSync(this.#path, 'r');
    const before = sumOfPage(readAt(this.#file, (page - 1) * header.pageSize, header.pageSize), header.pageSize);
    this.#write(
      { isClean: false, cleanAt: this.#cleanAt, ...header, frames, page, sum: crc32(content), generation: this.#inFile, before },
      !this.#isSynced,
    );
    this.#isSynced = true;
    this.#lastAt = Date.now();
    this.#lastGeneration = this.#generation;
    this.#writtenAt = performance.now();
  }

  /** To be called before SQLite closes the file: from then on what is known of the last commit outlives a power cut. */
  closing(): void {
    this.#noteDue();
    try {
      if (this.#fd !== undefined) fsyncSync(this.#fd);
    } catch {
      // The disk has failed.
    }
  }

  /** To be called when SQLite has closed the file: where no other process has it open, all is in it. */
  closed(): void {
    try {
      const isClean = !statSync(logOf(this.#path), { throwIfNoEntry: false })?.size;
      if (isClean && statSync(this.#path, { throwIfNoEntry: false })) {
        const none = { salt1: 0, salt2: 0, frames: 0, pageSize: 0, page: 0, sum: 0, before: 0 };
        this.#write({ ...none, isClean: true, cleanAt: Date.now(), generation: this.#generation }, true);
      }
    } catch {
      // It says that there is a log, and which page has to be in the file where there is none.
    } finally {
      for (const fd of [this.#fd, this.#log, this.#file]) if (fd !== undefined) closeSync(fd);
      this.#fd = this.#log = this.#file = undefined;
    }
  }

  #write(mark: Mark, isDurable: boolean): void {
    this.#last = mark;
    this.#fd ??= openSync(markOf(this.#path), constants.O_RDWR | constants.O_CREAT, 0o600);
    writeSync(this.#fd, markBytes(mark, this.#owner), 0, MARK_BYTES, 0);
    if (isDurable) fsyncSync(this.#fd);
  }

  /** The log may be another file once the last connection was closed and another one opened. */
  #openLog(): number {
    if (this.#log !== undefined && fstatSync(this.#log).nlink === 0) {
      closeSync(this.#log);
      this.#log = undefined;
    }
    this.#log ??= openSync(logOf(this.#path), 'r');
    return this.#log;
  }
}

const logOf = (path: string) => `${path}-wal`;
const markOf = (path: string) => `${path}-mark`;

const prepared = new WeakMap<DatabaseSync, StatementSync>();

function lookOf(db: DatabaseSync): Look {
  const statement = prepared.get(db) ?? prepare(db, walLengthQuery);
  prepared.set(db, statement);
  return () => {
    const { pages, copied } = readWalLength(statement);
    return { frames: Math.max(0, pages), inFile: Math.max(0, copied) };
  };
}

/** Whether there was a log when a mark was made. */
const saysLog = ({ isClean, frames }: Mark): boolean => !isClean && frames > 0;

/** @throws StoreRefused where the log beside a file is not its own */
function checkLog(path: string, mark: Mark): void {
  const header = headerOf(logOf(path));
  if (!header) return;
  if (saysLog(mark)) {
    const resets = (header.salt1 - mark.salt1) >>> 0;
    if (resets === 0 ? header.salt2 === mark.salt2 : resets < MAX_RESETS) return;
    const isEarlier = (mark.salt1 - header.salt1) >>> 0 < MAX_RESETS;
    if (!isInFile(path, mark)) throw new StoreRefused(isEarlier ? 'older' : 'foreign', logOf(path));
  }
  // Somebody else opened the file after all of the log was in it: another version, or a tool. Or the log is another's.
  if (verifyFile(path) !== null) throw new StoreRefused('foreign', logOf(path));
}

/** Of a page in the file; 1 where it is not there. */
const sumOfPage = (content: Buffer, pageSize: number): number => (content.length === pageSize && crc32(content)) || 1;

/** Whether a log that is not there any more was emptied into the file: the page is no longer what it was, also by a commit after the mark. */
function hasGoneIn(path: string, mark: Mark): boolean {
  const { page, pageSize, before } = mark;
  const content = bytesAt(path, (page - 1) * pageSize, pageSize);
  if (content?.length !== pageSize) return false;
  return isInFile(path, mark) || (before !== 0 && sumOfPage(content, pageSize) !== before);
}

/** Whether the last commit that is known is in the file itself. */
function isInFile(path: string, { page, pageSize, sum }: Mark): boolean {
  const content = bytesAt(path, (page - 1) * pageSize, pageSize);
  return content !== null && content.length === pageSize && crc32(content) === sum;
}
