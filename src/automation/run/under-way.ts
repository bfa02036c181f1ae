import { setTimeout as wait } from 'node:timers/promises';

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
