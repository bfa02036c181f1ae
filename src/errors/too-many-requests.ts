import { ServiceError, serviceError } from './fail.ts';

/** Code 155: more requests than one address may send. */
export class TooManyRequests extends ServiceError {
  /** Whole seconds until the next request is accepted. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super('tooManyRequests', serviceError('tooManyRequests').message);
    this.retryAfter = retryAfter;
  }
}
