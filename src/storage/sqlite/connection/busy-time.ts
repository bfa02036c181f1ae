/** Milliseconds after which the log is told that another process keeps the store busy. */
const BUSY_MS = 1_000;

/** How long another process has kept a store busy: others have the file to themselves for a moment as they open or close it. */
export class BusyTime {
  #since = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** It is busy now. @returns whether it has been for so long that the log is told */
  isLong(): boolean {
    const now = performance.now();
    if (now - this.#last > BUSY_MS) this.#since = now;
    this.#last = now;
    return now - this.#since >= BUSY_MS;
  }
}
