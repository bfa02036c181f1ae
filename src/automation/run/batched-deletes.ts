import type { Store } from '../../storage/port.ts';
import { type Job, removeJobs } from '../queue/index.ts';
import { outageOf } from './outage.ts';
import { backoff } from './outcome.ts';

/** Jobs removed per commit. */
const MAX_BATCH_SIZE = 500;

/** Removes jobs from the queue that have nothing to do (usually because no criteria match), many in one commit. */
export class BatchedDeletes {
  readonly #store: Store;
  readonly #removed: (ids: readonly string[]) => void;
  readonly #waiting = new Map<string, Job>();
  #isRunning = false;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param removed called with the jobs that have been removed */
  constructor(store: Store, removed: (ids: readonly string[]) => void) {
    this.#store = store;
    this.#removed = removed;
  }

  has(id: string): boolean {
    return this.#waiting.has(id);
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  add(job: Job): void {
    this.#waiting.set(job.id, job);
    if (this.#isRunning || this.#timer) return;
    this.#isRunning = true;
    // Delayed, to collect all jobs that end in this turn.
    setImmediate(() => void this.#run());
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.size > 0) await this.#remove([...this.#waiting.values().take(MAX_BATCH_SIZE)]);
      this.#failures = 0;
    } catch (error) {
      const outage = outageOf(this.#store);
      const delayMs = (await outage.isCauseOf(error)) ? 0 : backoff(this.#failures++);
      await outage.sleep(() => this.#isStopped);
      if (!this.#isStopped) this.#timer = setTimeout(() => this.#retry(), delayMs).unref();
    } finally {
      this.#isRunning = false;
    }
  }

  #retry(): void {
    this.#timer = undefined;
    this.#isRunning = true;
    void this.#run();
  }

  async #remove(jobs: readonly Job[]): Promise<void> {
    const owner = this.#store.cluster.processId;
    await this.#store.write({ plan: (schema) => ({ changes: [], mutations: removeJobs(schema, jobs, owner) }) });
    for (const { id } of jobs) this.#waiting.delete(id);
    this.#removed(jobs.map(({ id }) => id));
  }

  /** Stops; jobs that are still waiting stay in the queue. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }
}
