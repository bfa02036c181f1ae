import type { System } from './system.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Work that each system needs now and then. */
export interface Job {
  /** By which the processes agree on who does it. */
  readonly name: string;
  /** @param isEnough whether the service ends: to be asked between two steps */
  run(system: System, isEnough: () => boolean): Promise<void>;
}

/** Does the periodic work of the systems that are open: a minute or two after a system was opened, then every hour. */
export class Upkeep {
  readonly #opened: () => Iterable<System>;
  readonly #jobs: readonly Job[];
  readonly #reportFault: (error: unknown, job: string) => void;
  readonly #timer: NodeJS.Timeout;
  /** When a system is next looked at, on the clock that never goes back. */
  readonly #due = new WeakMap<System, number>();
  #running: Promise<void> | undefined;
  #closed = false;

  /**
   * @param opened the systems that are open, as of each step
   * @param jobs in turn; one that fails leaves the others as they are
   */
  constructor(opened: () => Iterable<System>, jobs: readonly Job[], reportFault: (error: unknown, job: string) => void) {
    this.#opened = opened;
    this.#jobs = jobs;
    this.#reportFault = reportFault;
    this.#timer = setInterval(() => this.#start(), MINUTE);
    this.#timer.unref();
  }

  #start(): void {
    this.#running ??= this.#round().finally(() => {
      this.#running = undefined;
    });
  }

  async #round(): Promise<void> {
    for (const system of this.#opened()) {
      const now = performance.now();
      const due = this.#due.get(system);
      if (due === undefined) this.#due.set(system, now);
      if (due === undefined || now < due || this.#closed) continue;
      this.#due.set(system, now + HOUR);
      system.hold();
      try {
        for (const job of this.#jobs) await this.#do(job, system);
      } finally {
        system.release();
      }
    }
  }

  async #do({ name, run }: Job, system: System): Promise<void> {
    if (this.#closed) return;
    try {
      // A little less than an hour: clocks of processes do not beat together.
      if (await system.store.claim(name, HOUR - MINUTE)) await run(system, () => this.#closed);
    } catch (error) {
      this.#reportFault(error, name);
    }
  }

  /** Ends after the step that is under way. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closed = true;
    await this.#running;
  }
}
