import { setTimeout as delay } from 'node:timers/promises';
import { serviceError } from '../../../errors/fail.ts';
import type { StallAllowance } from '../../../kernel/stall-allowance.ts';
import type { Statement } from '../../sql/writer.ts';
import { limitsSql, type TransactionLimits } from './connect.ts';
import type { Row } from './database.ts';
import type { ExclusivePool, Lease } from './exclusive-pool.ts';
import type { Answer, PipelinedConnection } from './pipelined-connection.ts';

/** Longest wait for a caller that does not ask for the next page where others wait for a connection, or for the table, in milliseconds. */
const STALL_LIMIT_WANTED_MS = 5_000;
/** Milliseconds until it is asked again then whether others wait: they do so for shorter times than that limit, again and again. */
const LOOK_AGAIN_MS = 150;

/** Bytes of a page, some: where they have come the server waits until the caller has taken them. */
const PAGE_BYTES = 1024 * 1024;
/** Rows of the first page, and how many times more the next one has at the most: their size shows on the way. */
const FIRST_PAGE_ROWS = 25;
const MAX_PAGE_GROWTH = 8;

/** Milliseconds until a page that was cancelled and still comes is cancelled again. */
const CANCEL_AGAIN_MS = 50;

/** What a cursor works with. */
export interface CursorSettings {
  readonly group: ExclusivePool;
  /** Milliseconds of work that all pages may take together. */
  readonly timeLimit: number;
  /** Said within the transaction; none where the session has them. */
  readonly limits: TransactionLimits;
  /** How long the caller may take. */
  readonly pauses: StallAllowance;
  /** Ends what the server process is at. */
  cancel(link: PipelinedConnection): Promise<unknown>;
  /** Whether another session waits for a lock that the connection's transaction holds: a change of the schema, and all that came after it. */
  isAwaited(link: PipelinedConnection): Promise<boolean>;
}

/**
 * A read page by page, one page ahead of the caller. A cursor of SQL, so that the time limit counts each page's own work and not the
 * caller's pauses.
 * @throws timeout where the work, or a pause of the caller, takes too long; the database's errors
 */
export async function* readPages(
  lease: Lease,
  statement: Statement,
  size: number,
  settings: CursorSettings,
): AsyncGenerator<Row[], void, void> {
  const { link } = lease;
  const pages = new Pages(link, statement, size, settings);
  const isWanted = async () => settings.group.isWanted || (await settings.isAwaited(link));
  const stall = new Stall(settings.pauses, isWanted, () => {
    void pages.end().then(lease.release);
  });
  try {
    for (;;) {
      const page = await pages.next();
      if (page.length > 0) {
        stall.begin(pages.handed);
        yield page;
        if (stall.end()) throw serviceError('timeout');
      }
      if (pages.read) return;
    }
  } finally {
    if (!stall.end()) {
      await pages.end();
      lease.release();
    }
  }
}

/** The cursor itself. */
class Pages {
  /** Whether the last row was handed out. */
  read = false;
  /** Bytes of the rows that were handed out last. */
  handed = 0;
  readonly #link: PipelinedConnection;
  readonly #settings: CursorSettings;
  readonly #size: number;
  readonly #ready: Promise<unknown>;
  /** Rows of the fetch that is under way, or was last. */
  #asked: number;
  #got = 0;
  #gotBytes = 0;
  #longest = 0;
  /** Those that were not handed out yet. */
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
    this.#asked = Math.min(size, FIRST_PAGE_ROWS);
    this.#settings = settings;
    // All of it will be read, unlike what the planner assumes of cursors.
    const begun = link.command(`BEGIN READ ONLY; SET LOCAL cursor_tuple_fraction = 1${limitsSql(settings.limits)}`);
    this.#ready = Promise.all([begun, link.query({ text: `DECLARE page NO SCROLL CURSOR FOR ${text}`, params })]);
    this.#ready.catch(() => {});
    this.#fetch();
  }

  /** The next rows: a page of them, or fewer where they are large. */
  async next(): Promise<Row[]> {
    await this.#ready;
    if (!this.#coming) this.#fetch();
    else if (!this.#answered && this.#bytes < PAGE_BYTES) this.#goOn();
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
    this.handed = this.#bytes;
    this.#rows = [];
    this.#bytes = 0;
    if (!this.#answered) return rows;
    this.read = this.#got < this.#asked;
    this.#asked = this.#nextSize();
    this.#coming = undefined;
    // One page ahead of the caller, unless rows are large: memory holds one of these.
    if (!this.read && this.#longest < PAGE_BYTES) this.#fetch();
    return rows;
  }

  /** Ends the transaction, and whatever it is at. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#rows = [];
    this.#link.resume();
    // A cancellation that comes before the server has begun with the page is passed over: it is said again.
    while (!this.#answered && !this.#link.lost) {
      await this.#settings.cancel(this.#link).catch(() => {});
      await Promise.race([this.#coming?.catch(() => {}), delay(CANCEL_AGAIN_MS)]);
    }
    if (this.#link.lost) return;
    await this.#link.command('ROLLBACK').catch(() => {});
    if (!this.#link.isIdle) this.#link.destroy();
  }

  #nextSize(): number {
    const perRow = this.#gotBytes / Math.max(1, this.#got);
    return Math.max(1, Math.min(this.#size, this.#asked * MAX_PAGE_GROWTH, Math.floor(PAGE_BYTES / Math.max(1, perRow))));
  }

  #fetch(): void {
    this.#began = performance.now();
    this.#answered = false;
    this.#got = 0;
    this.#gotBytes = 0;
    this.#longest = 0;
    const page = this.#link.command(`FETCH ${this.#asked} FROM page`, { each: (row, bytes) => this.#take(row, bytes) });
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
    // What the server has sent so far is enough for now.
    this.#link.pause();
    this.#pauseClock();
    this.#wake?.();
  }

  #goOn(): void {
    if (this.#began === 0) this.#began = performance.now();
    this.#link.resume();
  }

  #pauseClock(): void {
    if (this.#began > 0) this.#worked += performance.now() - this.#began;
    this.#began = 0;
  }
}

/** Watches over the pauses of a caller. */
class Stall {
  readonly #pauses: StallAllowance;
  readonly #isWanted: () => Promise<boolean>;
  readonly #giveUp: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Of the pause that lasts. */
  #began = 0;
  #mayLast = 0;
  #givenUp = false;

  constructor(pauses: StallAllowance, isWanted: () => Promise<boolean>, giveUp: () => void) {
    this.#pauses = pauses;
    this.#isWanted = isWanted;
    this.#giveUp = giveUp;
  }

  /** The caller has been handed so many bytes. */
  begin(bytes: number): void {
    this.#began = performance.now();
    this.#mayLast = this.#pauses.begin(bytes);
    this.#lookAfter(STALL_LIMIT_WANTED_MS);
  }

  /** The caller is back. Whether it was too late. */
  end(): boolean {
    clearTimeout(this.#timer);
    if (this.#began > 0) this.#pauses.end();
    this.#began = 0;
    return this.#givenUp;
  }

  #lookAfter(pauseMs: number): void {
    const began = this.#began;
    const left = began + this.#mayLast - performance.now();
    this.#timer = setTimeout(() => void this.#look(began), Math.min(pauseMs, Math.max(0, left)));
  }

  async #look(began: number): Promise<void> {
    const isOver = performance.now() - began >= this.#mayLast;
    // Sessions that cannot be asked count as waiting for nothing.
    const isEnough = isOver || (await this.#isWanted().catch(() => false));
    // The caller may have come back meanwhile.
    if (this.#began !== began) return;
    if (isEnough) {
      this.#givenUp = true;
      this.#giveUp();
    } else this.#lookAfter(LOOK_AGAIN_MS);
  }
}
