import { SECOND_MS } from '../kernel/time.ts';
import type { Logger } from './log.ts';
import type { QueryObservation } from './observations.ts';

/** Lines a second; what exceeds them is counted. */
const MAX_LINES = 10;
/** Plans that are looked up in a second, one at a time: many slow queries must not cause as many further ones. */
const MAX_PLANS = 2;
/** Time that a line waits for its plan, in milliseconds. */
const PLAN_WAIT_MS = 2 * SECOND_MS;

/** Writes a log line for each slow query, within a rate. Reference: operations.md#slow-queries. */
export class SlowQueryLog {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #now: () => number;
  readonly #waiting = new Set<() => void>();
  #second = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #plans = 0;
  #isPlanning = false;
  #leftOut = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param now monotonic milliseconds */
  constructor(log: Pick<Logger, 'warn'>, now = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** Logs a query, at once or when its plan is known. Never throws. */
  readonly observed = (query: QueryObservation): void => {
    const now = this.#now();
    if (now - this.#second >= SECOND_MS) {
      this.#second = now;
      this.#lines = this.#plans = 0;
    }
    if (this.#lines >= MAX_LINES) {
      this.#leftOut++;
      this.#timer ??= setTimeout(() => this.#tellLeftOut(), SECOND_MS).unref();
      return;
    }
    this.#lines++;
    if (query.plan === undefined || this.#isPlanning || this.#plans >= MAX_PLANS) this.#write(query);
    else {
      this.#plans++;
      void this.#writeWithPlan(query, query.plan());
    }
  };

  /** Writes the lines that wait. */
  close(): void {
    for (const write of this.#waiting) write();
    this.#tellLeftOut();
  }

  async #writeWithPlan(query: QueryObservation, plan: Promise<readonly string[]>): Promise<void> {
    this.#isPlanning = true;
    const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => giveUp(undefined), PLAN_WAIT_MS).unref();
    let isWritten = false;
    const write = (steps?: readonly string[]) => {
      if (!isWritten) this.#write(query, steps);
      isWritten = true;
    };
    this.#waiting.add(write);
    const found = plan.catch(() => undefined);
    write(await Promise.race([found, givenUp]));
    clearTimeout(timer);
    this.#waiting.delete(write);
    // The next plan waits until the store has answered this one.
    await found;
    this.#isPlanning = false;
  }

  #write(query: QueryObservation, plan?: readonly string[]): void {
    const { system, table, operation, ms, rows, isTimedOut } = query;
    const facts = { system, table, operation, ...query.shape(), ms: Math.round(ms) };
    const known = { ...(rows !== undefined && { rows }), ...(isTimedOut && { isTimedOut }), ...(plan && { plan }) };
    this.#log.warn({ ...facts, ...known }, 'slow query');
  }

  #tellLeftOut(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#leftOut > 0) this.#log.warn({ count: this.#leftOut }, 'slow queries were not logged: there were too many');
    this.#leftOut = 0;
  }
}
