import { setTimeout as wait } from 'node:timers/promises';

/** Systems that may be active during a sweep; beyond that, the next visit waits. */
const MAX_ACTIVE_SYSTEMS = 16;
/** Maximum wait before the next visit. */
const MAX_WAIT_MS = 2_000;
/** Delay before a registry that did not answer is read again. */
const RETRY_DELAY_MS = 1_000;

/** The dependencies of a sweep. */
export interface SweepServices {
  /** Returns the ids of all systems. @throws unavailable */
  appIds(): Promise<readonly string[]>;
  /** Called with them before the first visit. */
  found(appIds: readonly string[]): void;
  /** Visits one system. Never rejects. */
  visit(appId: string): Promise<void>;
  /** Returns the number of systems with running jobs. */
  atWork(): number;
  /** Whether to stop. */
  shouldStop(): boolean;
  /** Called with errors. */
  failed(error: unknown, what: string): void;
  readonly background: BackgroundTasks;
}

/** Visits all systems, one by one and in the background, to find work that an earlier or ended process left. */
export class Sweep {
  readonly #services: SweepServices;
  #sweeping: Promise<void> | undefined;

  constructor(services: SweepServices) {
    this.#services = services;
  }

  /** Begins a sweep, unless one is in progress. @param what the message for a failure */
  begin(what: string): void {
    this.#sweeping ??= this.#visitAll()
      .catch((error) => this.#services.failed(error, what))
      .finally(() => {
        this.#sweeping = undefined;
      });
  }

  /** Resolves when no sweep is in progress. */
  async ended(): Promise<void> {
    await this.#sweeping;
  }

  async #visitAll(): Promise<void> {
    const { found, visit, atWork, shouldStop, background } = this.#services;
    const appIds = await this.#allSystems();
    found(appIds);
    for (const appId of appIds) {
      // Some systems may have endless work, so the wait is limited.
      const until = performance.now() + MAX_WAIT_MS;
      while (atWork() >= MAX_ACTIVE_SYSTEMS && !shouldStop() && performance.now() < until)
        await wait(100, undefined, { ref: false });
      if (shouldStop()) return;
      await background.waitAtMost(MAX_WAIT_MS, visit(appId));
    }
  }

  /** Returns the systems, retrying until the registry answers. */
  async #allSystems(): Promise<readonly string[]> {
    while (!this.#services.shouldStop())
      try {
        return await this.#services.appIds();
      } catch (error) {
        this.#services.failed(error, 'the systems could not be read');
        await wait(RETRY_DELAY_MS, undefined, { ref: false });
      }
    return [];
  }
}

/** Tracks background work, so that a task that hangs does not block others. */
export class BackgroundTasks {
  readonly #tasks = new Set<Promise<void>>();

  /** Tracks work without waiting for it. @param work its errors are handled elsewhere */
  track(work: Promise<void>): void {
    const done = work
      .catch(() => {})
      .finally(() => {
        this.#tasks.delete(done);
      });
    this.#tasks.add(done);
  }

  /** Waits for work for a limited time; then it continues in the background. @param bound milliseconds @throws errors of the work within that time */
  async waitAtMost(bound: number, work: Promise<void>): Promise<void> {
    this.track(work);
    const over = new AbortController();
    const late = wait(bound, undefined, { ref: false, signal: over.signal }).catch(() => {});
    await Promise.race([work, late]).finally(() => over.abort());
  }

  /** Resolves when all tracked work has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#tasks);
  }
}
