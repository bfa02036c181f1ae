import { setTimeout as wait } from 'node:timers/promises';

/** Systems that may be active during a sweep; beyond that, the next visit waits. */
const MAX_ACTIVE_SYSTEMS = 16;
/** Visits at a time. */
const MAX_CONCURRENT_VISITS = 4;
/** Maximum wait before the next visit. */
const MAX_WAIT_MS = 2_000;
/** Delay before a registry that did not answer is read again. */
const RETRY_DELAY_MS = 1_000;

/** The dependencies of a sweep. */
export interface SweepServices {
  /** Reads which systems there are, before they are searched. @throws unavailable */
  readSystems(): Promise<void>;
  /** Yields the systems that may have work. @throws unavailable */
  withWork(): AsyncGenerator<string>;
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

/** Visits all systems that may have work, a few at a time and in the background, to find what an earlier or ended process left. */
export class Sweep {
  readonly #services: SweepServices;
  #sweeping: Promise<void> | undefined;
  /** Whether a process ended during the sweep: what it left may be in systems that were visited before. */
  #isAskedAgain = false;

  constructor(services: SweepServices) {
    this.#services = services;
  }

  /** Begins a sweep; if one is in progress, another one follows it. @param what the message for a failure */
  begin(what: string): void {
    this.#isAskedAgain = true;
    this.#sweeping ??= this.#sweepWhileAsked()
      .catch((error) => this.#services.failed(error, what))
      .finally(() => {
        this.#sweeping = undefined;
      });
  }

  async #sweepWhileAsked(): Promise<void> {
    while (this.#isAskedAgain && !this.#services.shouldStop()) {
      this.#isAskedAgain = false;
      await this.#visitAll();
    }
  }

  /** Resolves when no sweep is in progress. */
  async ended(): Promise<void> {
    await this.#sweeping;
  }

  async #visitAll(): Promise<void> {
    const { readSystems, withWork, shouldStop, failed } = this.#services;
    while (!shouldStop())
      try {
        await readSystems();
        const found = withWork();
        const visitEach = async () => {
          for (let next = await found.next(); !next.done && !shouldStop(); next = await found.next())
            await this.#visit(next.value);
        };
        await Promise.all(Array.from({ length: MAX_CONCURRENT_VISITS }, visitEach));
        return;
      } catch (error) {
        failed(error, 'the systems could not be read');
        await wait(RETRY_DELAY_MS, undefined, { ref: false });
      }
  }

  /** Some systems may have endless work, and some may hang, so the waits are limited. */
  async #visit(appId: string): Promise<void> {
    const { visit, atWork, shouldStop, background } = this.#services;
    const until = performance.now() + MAX_WAIT_MS;
    while (atWork() >= MAX_ACTIVE_SYSTEMS && !shouldStop() && performance.now() < until)
      await wait(100, undefined, { ref: false });
    if (!shouldStop()) await background.waitAtMost(MAX_WAIT_MS, visit(appId));
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
