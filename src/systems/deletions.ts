import { isPassing } from '../errors/fail.ts';
import { HOUR_MS, MINUTE_MS } from '../kernel/time.ts';
import type { Administration } from './administration.ts';

/** Retry delay in milliseconds while a store is not available. */
const RETRY_DELAY_MS = MINUTE_MS;

/** Deletes overdue removed systems and incomplete ones, at the start and then every hour; after a passing fault again in a minute. */
export class Deletions {
  readonly #administration: Pick<Administration, 'clearUnfinished' | 'deleteOverdue'>;
  readonly #report: (error: unknown, appIds: readonly string[]) => void;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  /** @param report called with an error, or, without one, with the systems that were deleted */
  constructor(
    administration: Pick<Administration, 'clearUnfinished' | 'deleteOverdue'>,
    report: (error: unknown, appIds: readonly string[]) => void,
  ) {
    this.#administration = administration;
    this.#report = report;
  }

  /** Starts in the background. */
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

  /** Waits for the deletion in progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    await this.#running;
  }
}
