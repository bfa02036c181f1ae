import { setTimeout as wait } from 'node:timers/promises';

/** Systems at work after a start; the next ones are looked at when some of them are done. */
const MAX_ACTIVE_SYSTEMS = 16;
/** Milliseconds for which the next one waits at the most. */
const MAX_WAIT_MS = 2_000;
/** Milliseconds after which a registry that did not answer is asked again. */
const RETRY_DELAY_MS = 1_000;

/** What a sweep is made of. */
export interface SweepParts {
  /** The ids of all systems. @throws unavailable */
  appIds(): Promise<readonly string[]>;
  /** Told of them before the first is visited. */
  found(appIds: readonly string[]): void;
  /** Looks at one system. Never rejects. */
  visit(appId: string): Promise<void>;
  /** How many systems have jobs under way. */
  atWork(): number;
  /** Whether nothing more is to be begun. */
  isOver(): boolean;
  /** Told of what went wrong. */
  failed(error: unknown, what: string): void;
  readonly underWay: UnderWay;
}

/** Looks through all systems, one after the other, in the background: for what an earlier process, or one that is gone, left undone. */
export class Sweep {
  readonly #parts: SweepParts;
  #sweeping: Promise<void> | undefined;

  constructor(parts: SweepParts) {
    this.#parts = parts;
  }

  /** Begins, where none is under way. @param what the message of a failure */
  begin(what: string): void {
    this.#sweeping ??= this.#visitAll()
      .catch((error) => this.#parts.failed(error, what))
      .finally(() => {
        this.#sweeping = undefined;
      });
  }

  /** Resolves when none is under way. */
  async ended(): Promise<void> {
    await this.#sweeping;
  }

  async #visitAll(): Promise<void> {
    const { found, visit, atWork, isOver, underWay } = this.#parts;
    const appIds = await this.#allSystems();
    found(appIds);
    for (const appId of appIds) {
      // Some may have work without end; the next system has its turn all the same.
      const until = performance.now() + MAX_WAIT_MS;
      while (atWork() >= MAX_ACTIVE_SYSTEMS && !isOver() && performance.now() < until) await wait(100, undefined, { ref: false });
      if (isOver()) return;
      await underWay.atMostFor(MAX_WAIT_MS, visit(appId));
    }
  }

  /** The systems, as soon as the registry tells. */
  async #allSystems(): Promise<readonly string[]> {
    while (!this.#parts.isOver())
      try {
        return await this.#parts.appIds();
      } catch (error) {
        this.#parts.failed(error, 'the systems could not be read');
        await wait(RETRY_DELAY_MS, undefined, { ref: false });
      }
    return [];
  }
}

/** Work on one system after the other, where what hangs in one holds no other up. */
export class UnderWay {
  readonly #works = new Set<Promise<void>>();

  /** Goes on without waiting. @param work of which somebody else hears whether it failed */
  follow(work: Promise<void>): void {
    const done = work
      .catch(() => {})
      .finally(() => {
        this.#works.delete(done);
      });
    this.#works.add(done);
  }

  /** Waits, and after a while goes on beside it. @param bound milliseconds @throws what the work throws until then */
  async atMostFor(bound: number, work: Promise<void>): Promise<void> {
    this.follow(work);
    const over = new AbortController();
    const late = wait(bound, undefined, { ref: false, signal: over.signal }).catch(() => {});
    await Promise.race([work, late]).finally(() => over.abort());
  }

  /** Resolves when all has come to its end. */
  async ended(): Promise<void> {
    await Promise.all(this.#works);
  }
}
