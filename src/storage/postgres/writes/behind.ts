import type { PreparedWrite } from '../../port.ts';

/** How long writes that nobody waits for are kept back at the most, in milliseconds: many rows at once cost a fraction of few at a time. */
const LATEST = 200;
/** Such writes beyond which they are carried out at once. */
const LARGEST = 500;
/** Such writes that wait or are under way, while the database is away say, beyond which further ones are dropped. */
const MOST = 10_000;

/** Gathers the writes that nobody waits for. */
export class WritesBehind {
  readonly #carryOut: (write: PreparedWrite) => Promise<unknown>;
  readonly #report: (fault: string) => void;
  #gathered: PreparedWrite[] = [];
  #underWay = 0;
  #overflowing = false;
  #latest: NodeJS.Timeout | undefined;

  /** @param carryOut called for many in one turn, which share a transaction */
  constructor(carryOut: (write: PreparedWrite) => Promise<unknown>, report: (fault: string) => void) {
    this.#carryOut = carryOut;
    this.#report = report;
  }

  add(write: PreparedWrite): void {
    if (this.#gathered.length + this.#underWay >= MOST) {
      if (!this.#overflowing) this.#report('too many writes that nobody waits for are waiting: further ones are dropped');
      this.#overflowing = true;
      return;
    }
    this.#gathered.push(write);
    if (this.#gathered.length >= LARGEST && this.#underWay === 0) this.flush();
    else this.#latest ??= setTimeout(() => this.#flushUnlessBusy(), LATEST);
  }

  /** Starts all that is gathered, in this turn. */
  flush(): void {
    clearTimeout(this.#latest);
    this.#latest = undefined;
    const writes = this.#gathered;
    if (writes.length === 0) return;
    this.#gathered = [];
    this.#underWay += writes.length;
    void this.#finish(writes.map((write) => this.#carryOut(write)));
  }

  /** One after the other: what the database does not get done in time is gathered. */
  #flushUnlessBusy(): void {
    this.#latest = undefined;
    if (this.#underWay === 0) this.flush();
  }

  async #finish(writes: readonly Promise<unknown>[]): Promise<void> {
    const failed = (await Promise.allSettled(writes)).filter((one) => one.status === 'rejected');
    this.#underWay -= writes.length;
    if (failed[0]) this.#report(`${failed.length} writes that nobody waits for failed: ${(failed[0].reason as Error).message}`);
    if (this.#underWay > 0) return;
    this.#overflowing = false;
    if (this.#gathered.length > 0) this.#latest ??= setTimeout(() => this.#flushUnlessBusy(), LATEST);
  }
}
