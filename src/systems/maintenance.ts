import { isPassing } from '../errors/fail.ts';
import { HOUR_MS, MINUTE_MS } from '../kernel/time.ts';
import type { System } from './system.ts';

/** Work that each system needs now and then. */
export interface Job {
  /** By which the processes agree on who does it. */
  readonly name: string;
  /** @param isEnough whether the service ends: to be asked between two steps */
  run(system: System, isEnough: () => boolean): Promise<void>;
}

/**
 * Does the periodic work of the systems that are open: a minute or two after a system was opened, then every hour. What the store was away for
 * is tried again each minute.
 */
export class Upkeep {
  readonly #opened: () => Iterable<System>;
  readonly #jobs: readonly Job[];
  readonly #reportFault: (error: unknown, job: string) => void;
  readonly #timer: NodeJS.Timeout;
  /** When a system is next looked at, on the clock that never goes back. */
  readonly #due = new WeakMap<System, number>();
  /** Jobs that fell to this process, and that the store was away for. */
  readonly #left = new WeakMap<System, Set<Job>>();
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
    this.#timer = setInterval(() => this.#start(), MINUTE_MS);
    this.#timer.unref();
  }

  #start(): void {
    this.#running ??= this.#round()
      .catch((error) => this.#reportFault(error, 'upkeep'))
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #round(): Promise<void> {
    for (const system of this.#opened()) {
      const now = performance.now();
      const due = this.#due.get(system);
      if (due === undefined) this.#due.set(system, now);
      if (due === undefined || now < due || this.#closed) continue;
      const left = this.#left.get(system);
      this.#left.delete(system);
      this.#due.set(system, now + HOUR_MS);
      system.hold();
      try {
        for (const job of left ?? this.#jobs) await this.#do(job, system, left !== undefined);
      } finally {
        system.release();
      }
    }
  }

  /** @param isOurs whether it fell to this process before */
  async #do(job: Job, system: System, isOurs: boolean): Promise<void> {
    if (this.#closed) return;
    const { name, run } = job;
    try {
      // A little less than an hour: clocks of processes do not beat together.
      const isDue = isOurs || (await system.store.cluster.takeLease(system.store.place, name, HOUR_MS - MINUTE_MS));
      if (isDue) await run(system, () => this.#closed);
    } catch (error) {
      if (!isPassing(error)) this.#reportFault(error, name);
      else this.#leave(job, system);
    }
  }

  /** It is tried again soon. Where nobody knows who is to do it, it is done once too often rather than an hour late. */
  #leave(job: Job, system: System): void {
    const left = this.#left.get(system) ?? new Set();
    this.#left.set(system, left.add(job));
    this.#due.set(system, performance.now());
  }

  /** Ends after the step that is under way. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closed = true;
    await this.#running;
  }
}
