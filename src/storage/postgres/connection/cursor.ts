import { setTimeout as delay } from 'node:timers/promises';
import { serviceError } from '../../../errors/fail.ts';
import type { Statement } from '../../sql/writer.ts';
import type { Row } from './database.ts';
import { limitsSql, type TransactionLimits } from './dial.ts';
import type { Group, Lease } from './group.ts';
import type { Answer, Link } from './link.ts';

/** Longest wait for a caller who does not ask for the next page, in milliseconds; and where others wait for a connection. */
const STALL_LIMIT = 55_000;
const STALL_LIMIT_WANTED = 5_000;

/** Milliseconds until a page that was cancelled and still comes is cancelled again. */
const CANCEL_AGAIN = 50;

/** What a cursor works with. */
export interface CursorSettings {
  readonly group: Group;
  /** Milliseconds of work that all pages may take together. */
  readonly timeLimit: number;
  /** Said within the transaction; none where the session has them. */
  readonly limits: TransactionLimits;
  /** Ends what the server process is at. */
  cancel(link: Link): Promise<unknown>;
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
  const stall = new Stall(settings.group, () => {
    void pages.end().then(lease.release);
  });
  try {
    for (;;) {
      const page = await pages.next();
      if (page.length > 0) {
        stall.begin();
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
  /** Whether the last page was handed out. */
  read = false;
  readonly #link: Link;
  readonly #settings: CursorSettings;
  readonly #size: number;
  readonly #ready: Promise<unknown>;
  #coming: Promise<Answer>;
  #worked = 0;
  #answered = false;

  constructor(link: Link, { text, params }: Statement, size: number, settings: CursorSettings) {
    this.#link = link;
    this.#size = size;
    this.#settings = settings;
    // All of it will be read, unlike what the planner assumes of cursors.
    const begun = link.command(`BEGIN READ ONLY; SET LOCAL cursor_tuple_fraction = 1${limitsSql(settings.limits)}`);
    this.#ready = Promise.all([begun, link.query({ text: `DECLARE page NO SCROLL CURSOR FOR ${text}`, params })]);
    this.#ready.catch(() => {});
    this.#coming = this.#fetch();
  }

  async next(): Promise<Row[]> {
    await this.#ready;
    const { rows } = await this.#coming;
    if (this.#worked > this.#settings.timeLimit) throw serviceError('timeout');
    this.read = rows.length < this.#size;
    if (!this.read) this.#coming = this.#fetch();
    return rows;
  }

  /** Ends the transaction, and whatever it is at. */
  async end(): Promise<void> {
    // A cancellation that comes before the server has begun with the page is passed over: it is said again.
    while (!this.#answered && !this.#link.lost) {
      await this.#settings.cancel(this.#link).catch(() => {});
      await Promise.race([this.#coming.catch(() => {}), delay(CANCEL_AGAIN)]);
    }
    if (this.#link.lost) return;
    await this.#link.command('ROLLBACK').catch(() => {});
    if (!this.#link.isIdle) this.#link.destroy();
  }

  #fetch(): Promise<Answer> {
    const began = performance.now();
    this.#answered = false;
    const page = this.#link.command(`FETCH ${this.#size} FROM page`);
    const answered = () => {
      this.#answered = true;
      this.#worked += performance.now() - began;
    };
    page.then(answered, answered);
    return page;
  }
}

/** Watches over the pauses of a caller. */
class Stall {
  readonly #group: Group;
  readonly #giveUp: () => void;
  #timer: NodeJS.Timeout | undefined;
  #givenUp = false;

  constructor(group: Group, giveUp: () => void) {
    this.#group = group;
    this.#giveUp = giveUp;
  }

  begin(): void {
    const began = performance.now();
    const look = () => {
      const limit = this.#group.isWanted ? STALL_LIMIT_WANTED : STALL_LIMIT;
      if (performance.now() - began < limit) this.#timer = setTimeout(look, STALL_LIMIT_WANTED);
      else {
        this.#givenUp = true;
        this.#giveUp();
      }
    };
    this.#timer = setTimeout(look, STALL_LIMIT_WANTED);
  }

  /** The caller is back. Whether it was too late. */
  end(): boolean {
    clearTimeout(this.#timer);
    return this.#givenUp;
  }
}
