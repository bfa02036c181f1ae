import { isPassing } from '../errors/fail.ts';
import { HOUR_MS, MINUTE_MS } from '../kernel/time.ts';
import type { System } from './system.ts';

/** Periodic work for each system. */
export interface Job {
  /** Name of the lease by which the processes agree on who does it. */
  readonly name: string;
  /** Whether systems that nobody uses do not need it. */
  readonly isOfUse?: true;
  /** @param shouldStop whether the service is ending: checked between two steps */
  run(system: System, shouldStop: () => boolean): Promise<void>;
}

/**
 * Runs the periodic work of the open systems: a minute or two after a system was opened, then every hour. Work that a passing fault of the store
 * interrupted is retried each minute. Systems that stay closed are visited once a day (daily-visits.ts).
 */
export class Maintenance {
  readonly #opened: () => Iterable<System>;
  readonly #jobs: readonly Job[];
  readonly #reportFault: (error: unknown, job: string) => void;
  readonly #timer: NodeJS.Timeout;
  /** When a system is next due, by the monotonic clock. */
  readonly #due = new WeakMap<System, number>();
  /** Jobs of this process that a passing fault of the store interrupted. */
  readonly #unfinished = new WeakMap<System, Set<Job>>();
  #running: Promise<void> | undefined;
  #closed = false;

  /**
   * @param opened the systems that are open, evaluated at each step
   * @param jobs in order; a failed one does not affect the others
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
      const left = this.#unfinished.get(system);
      this.#unfinished.delete(system);
      this.#due.set(system, now + HOUR_MS);
      system.hold();
      try {
        for (const job of left ?? this.#jobs) await this.#do(job, system, left !== undefined);
      } finally {
        system.release();
      }
    }
  }

  /** Runs the work that is due in a system that nobody uses. The caller holds it. */
  async visit(system: System): Promise<void> {
    for (const job of this.#jobs) if (!job.isOfUse) await this.#do(job, system, false);
  }

  /** @param isOurs whether this process had the lease before */
  async #do(job: Job, system: System, isOurs: boolean): Promise<void> {
    if (this.#closed) return;
    const { name, run } = job;
    try {
      // A little less than an hour, because the clocks of processes differ.
      const isDue = isOurs || (await system.store.cluster.takeLease(system.store.place, name, HOUR_MS - MINUTE_MS));
      if (isDue) await run(system, () => this.#closed);
    } catch (error) {
      if (!isPassing(error)) this.#reportFault(error, name);
      else this.#retrySoon(job, system);
    }
  }

  /** Schedules an early retry. Other processes may do the work as well, which is better than an hour's delay. */
  #retrySoon(job: Job, system: System): void {
    const left = this.#unfinished.get(system) ?? new Set();
    this.#unfinished.set(system, left.add(job));
    this.#due.set(system, performance.now());
  }

  /** Waits for the step in progress. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closed = true;
    await this.#running;
  }
}
