import { type ServiceError, serviceError } from '../errors/fail.ts';
import type { S3Fault } from './fault.ts';

/** How the requests to a store go. It tells of the first that finds the store away; from there on only after one went well. */
export class S3Health {
  readonly #report: (fault: string) => void;
  #isAway = false;

  constructor(report: (fault: string) => void) {
    this.#report = report;
  }

  /** The store has answered. */
  well(): void {
    this.#isAway = false;
  }

  /** The error that callers get: `unavailable` (503) where the store is away, with its cause, else the fault itself. */
  errorOf(fault: S3Fault): ServiceError | S3Fault {
    if (!fault.isPassing) {
      this.well();
      return fault;
    }
    if (!this.#isAway) this.#report(fault.message);
    this.#isAway = true;
    const error = serviceError('unavailable');
    error.cause = fault;
    return error;
  }
}
