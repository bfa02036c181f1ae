import { ServiceError, serviceError } from './fail.ts';

/** 155: more requests than an address may make. */
export class TooManyRequests extends ServiceError {
  /** Whole seconds until the next one counts. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super('tooManyRequests', serviceError('tooManyRequests').message);
    this.retryAfter = retryAfter;
  }
}
