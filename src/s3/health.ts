import { type ServiceError, serviceError } from '../errors/fail.ts';
import type { S3Fault } from './fault.ts';

/** Tracks whether a store is reachable. Reports the first failure of an outage only, and again only after a request has succeeded. */
export class S3Health {
  readonly #report: (fault: string) => void;
  #isAway = false;

  constructor(report: (fault: string) => void) {
    this.#report = report;
  }

  /** Records that the store has answered. */
  succeeded(): void {
    this.#isAway = false;
  }

  /** Returns the error for callers: `unavailable` (503) with the fault as its cause if the fault is transient, else the fault itself. */
  errorOf(fault: S3Fault): ServiceError | S3Fault {
    if (!fault.isPassing) {
      this.succeeded();
      return fault;
    }
    if (!this.#isAway) this.#report(fault.message);
    this.#isAway = true;
    const error = serviceError('unavailable');
    error.cause = fault;
    return error;
  }
}
