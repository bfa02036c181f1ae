import { setTimeout as delay } from 'node:timers/promises';
import { serviceError } from '../../../errors/fail.ts';
import type { StallAllowance } from '../../../kernel/stall-allowance.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { limitsSql, type TransactionLimits } from './connect.ts';
import type { Row } from './database.ts';
import type { ExclusivePool, Lease } from './exclusive-pool.ts';
import type { Answer, PipelinedConnection } from './pipelined-connection.ts';

/** Maximum wait for a caller that does not request the next page while others wait for a connection or for the table, in milliseconds. */
const STALL_LIMIT_CONTENDED_MS = 5_000;
/** After that limit, milliseconds between checks whether others wait. Each of them may wait for a shorter time, repeatedly. */
const RECHECK_MS = 150;

/** Approximate maximum size of a page. Once it is reached, reading pauses (back-pressure) until the caller has taken the rows. */
const PAGE_BYTES = 1024 * 1024;
/** Rows of the first page, and the maximum factor by which the next one grows. The size of rows is not known in advance. */
const FIRST_PAGE_ROWS = 25;
const MAX_PAGE_GROWTH = 8;

/** Milliseconds until a page that still arrives is cancelled again. */
const CANCEL_RETRY_MS = 50;

/** Settings and collaborators of a cursor. */
export interface CursorSettings {
  readonly pool: ExclusivePool;
  /** Milliseconds of work that all pages together may take. */
  readonly timeLimit: number;
  /** Limits set within the transaction; empty if the session has them. */
  readonly limits: TransactionLimits;
  /** How long the caller may pause. */
  readonly allowance: StallAllowance;
  /** Cancels what the server process is executing. */
  cancel(link: PipelinedConnection): Promise<unknown>;
  /** Whether another session waits for a lock that this transaction holds: a schema change, and everything queued behind it. */
  isBlocking(link: PipelinedConnection): Promise<boolean>;
}

/**
 * Reads a statement page by page, one page ahead of the caller. Uses an SQL cursor, so that the time limit counts the work on each page and not the
 * caller's pauses.
 * @throws timeout if the work or a pause of the caller takes too long; the database's errors
 */
export async function* readPages(
  lease: Lease,
  statement: Statement,
  size: number,
  settings: CursorSettings,
): AsyncGenerator<Row[], void, void> {
  const { link } = lease;
  const pages = new Pages(link, statement, size, settings);
  const hasWaiters = async () => settings.pool.hasWaiters || (await settings.isBlocking(link));
  const stall = new Stall(settings.allowance, hasWaiters, () => {
    void pages.end().then(lease.release);
  });
  try {
    for (;;) {
      const page = await pages.next();
      if (page.length > 0) {
        stall.begin(pages.returnedBytes);
        yield page;
        if (stall.end()) throw serviceError('timeout');
      }
      if (pages.isDone) return;
    }
  } finally {
    if (!stall.end()) {
      await pages.end();
      lease.release();
    }
  }
}

/** The cursor of a read. */
class Pages {
  /** Whether the last row was returned. */
  isDone = false;
  /** Bytes of the rows that `next` returned last. */
  returnedBytes = 0;
  readonly #link: PipelinedConnection;
  readonly #settings: CursorSettings;
  readonly #size: number;
  readonly #ready: Promise<unknown>;
  /** Number of rows requested by the current or last fetch. */
  #requested: number;
  #got = 0;
  #gotBytes = 0;
  #longest = 0;
  /** Rows that have arrived and were not returned yet. */
  #rows: Row[] = [];
  #bytes = 0;
  #coming: Promise<Answer> | undefined;
  #answered = true;
  #wake: (() => void) | undefined;
  #began = 0;
  #worked = 0;
  #ended = false;

  constructor(link: PipelinedConnection, { text, params }: Statement, size: number, settings: CursorSettings) {
    this.#link = link;
    this.#size = size;
    this.#requested = Math.min(size, FIRST_PAGE_ROWS);
    this.#settings = settings;
    // All rows will be read, but by default the planner optimises a cursor for the first 10%.
    const begun = link.command(`BEGIN READ ONLY; SET LOCAL cursor_tuple_fraction = 1${limitsSql(settings.limits)}`);
    this.#ready = Promise.all([begun, link.query({ text: `DECLARE page NO SCROLL CURSOR FOR ${text}`, params })]);
    this.#ready.catch(() => {});
    this.#fetch();
  }

  /** Returns the next rows: a page, or fewer if they are large. */
  async next(): Promise<Row[]> {
    await this.#ready;
    if (!this.#coming) this.#fetch();
    else if (!this.#answered && this.#bytes < PAGE_BYTES) this.#resume();
    if (!this.#answered && this.#bytes < PAGE_BYTES)
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    if (this.#answered) {
      this.#link.resume();
      await this.#coming;
    }
    if (this.#worked > this.#settings.timeLimit) throw serviceError('timeout');
    const rows = this.#rows;
    this.returnedBytes = this.#bytes;
    this.#rows = [];
    this.#bytes = 0;
    if (!this.#answered) return rows;
    this.isDone = this.#got < this.#requested;
    this.#requested = this.#nextSize();
    this.#coming = undefined;
    // Prefetch one page, unless rows are large: then only one page is kept in memory.
    if (!this.isDone && this.#longest < PAGE_BYTES) this.#fetch();
    return rows;
  }

  /** Ends the transaction, cancelling the current fetch. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#rows = [];
    this.#link.resume();
    // Repeat: a cancellation that arrives before the server has begun the fetch has no effect.
    while (!this.#answered && !this.#link.lost) {
      await this.#settings.cancel(this.#link).catch(() => {});
      await Promise.race([this.#coming?.catch(() => {}), delay(CANCEL_RETRY_MS)]);
    }
    if (this.#link.lost) return;
    await this.#link.command('ROLLBACK').catch(() => {});
    if (!this.#link.isIdle) this.#link.destroy();
  }

  #nextSize(): number {
    const perRow = this.#gotBytes / Math.max(1, this.#got);
    return Math.max(1, Math.min(this.#size, this.#requested * MAX_PAGE_GROWTH, Math.floor(PAGE_BYTES / Math.max(1, perRow))));
  }

  #fetch(): void {
    this.#began = performance.now();
    this.#answered = false;
    this.#got = 0;
    this.#gotBytes = 0;
    this.#longest = 0;
    const page = this.#link.command(`FETCH ${this.#requested} FROM page`, { each: (row, bytes) => this.#take(row, bytes) });
    const answered = () => {
      this.#answered = true;
      this.#pauseClock();
      this.#wake?.();
    };
    page.then(answered, answered);
    this.#coming = page;
  }

  #take(row: Row, bytes: number): void {
    if (this.#ended) return;
    this.#got += 1;
    this.#gotBytes += bytes;
    this.#longest = Math.max(this.#longest, bytes);
    this.#rows.push(row);
    this.#bytes += bytes;
    if (this.#bytes < PAGE_BYTES) return;
    // Enough for now: pause the connection, so that the server waits.
    this.#link.pause();
    this.#pauseClock();
    this.#wake?.();
  }

  #resume(): void {
    if (this.#began === 0) this.#began = performance.now();
    this.#link.resume();
  }

  #pauseClock(): void {
    if (this.#began > 0) this.#worked += performance.now() - this.#began;
    this.#began = 0;
  }
}

/** Limits the pauses of the caller. */
class Stall {
  readonly #allowance: StallAllowance;
  readonly #hasWaiters: () => Promise<boolean>;
  readonly #giveUp: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Start of the current pause, by `performance.now()`; 0: none. */
  #began = 0;
  #mayLast = 0;
  #isGivenUp = false;

  constructor(allowance: StallAllowance, hasWaiters: () => Promise<boolean>, giveUp: () => void) {
    this.#allowance = allowance;
    this.#hasWaiters = hasWaiters;
    this.#giveUp = giveUp;
  }

  /** The caller was given so many bytes and pauses. */
  begin(bytes: number): void {
    this.#began = performance.now();
    this.#mayLast = this.#allowance.begin(bytes);
    this.#checkAfter(STALL_LIMIT_CONTENDED_MS);
  }

  /** The caller has returned. @returns whether it was too late */
  end(): boolean {
    clearTimeout(this.#timer);
    if (this.#began > 0) this.#allowance.end();
    this.#began = 0;
    return this.#isGivenUp;
  }

  #checkAfter(pauseMs: number): void {
    const began = this.#began;
    const left = began + this.#mayLast - performance.now();
    this.#timer = setTimeout(() => void this.#check(began), Math.min(pauseMs, Math.max(0, left)));
  }

  async #check(began: number): Promise<void> {
    const isOver = performance.now() - began >= this.#mayLast;
    // If the database cannot be queried, assume that none waits.
    const shouldStop = isOver || (await this.#hasWaiters().catch(() => false));
    // The caller may have returned meanwhile.
    if (this.#began !== began) return;
    if (shouldStop) {
      this.#isGivenUp = true;
      this.#giveUp();
    } else this.#checkAfter(RECHECK_MS);
  }
}
