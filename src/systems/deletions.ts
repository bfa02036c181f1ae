import { isPassing } from '../errors/fail.ts';
import { HOUR_MS, MINUTE_MS } from '../kernel/time.ts';
import type { Administration } from './administration.ts';

/** Milliseconds until what was away is tried again. */
const RETRY_DELAY_MS = MINUTE_MS;

/** Deletes systems that were removed long enough ago, and what was not made to its end: after the start, and every hour; what was away meanwhile is tried again in a minute. */
export class Deletions {
  readonly #administration: Pick<Administration, 'clearUnfinished' | 'deleteOverdue'>;
  readonly #report: (error: unknown, appIds: readonly string[]) => void;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  /** @param report told what went wrong, or, with no error, which systems were deleted */
  constructor(
    administration: Pick<Administration, 'clearUnfinished' | 'deleteOverdue'>,
    report: (error: unknown, appIds: readonly string[]) => void,
  ) {
    this.#administration = administration;
    this.#report = report;
  }

  /** Begins in the background. */
  start(): void {
    this.#timer ??= setInterval(() => this.#round(), HOUR_MS).unref();
    this.#round();
  }

  #round(): void {
    this.#running ??= this.#administration
      .clearUnfinished()
      .then(() => this.#administration.deleteOverdue(() => this.#isClosed))
      .then((appIds) => appIds.length > 0 && this.#report(undefined, appIds))
      .catch((error) => this.#failed(error))
      .then(() => {
        this.#running = undefined;
      });
  }

  #failed(error: unknown): void {
    if (!isPassing(error)) this.#report(error, []);
    else if (!this.#isClosed) this.#soon = setTimeout(() => this.#round(), RETRY_DELAY_MS).unref();
  }

  /** Ends after the system that is being deleted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    await this.#running;
  }
}
