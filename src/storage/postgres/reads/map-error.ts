import { ServiceError, serviceError } from '../../../errors/fail.ts';
import { isOutOfRange, isTooLarge } from '../connection/value-errors.ts';

/** SQLSTATE of an invalid regular expression, or one that needs too much memory. */
const INVALID_REGEX = '2201B';

/** Maps an error of a read to the client's error; faults of this program stay unchanged. */
export function mapQueryError(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  if ((error as { readonly code?: unknown }).code === INVALID_REGEX)
    return serviceError('badQuery', 'the pattern is too complex');
  if (isTooLarge(error)) return serviceError('badQuery', 'the query is too large');
  if (isOutOfRange(error)) return serviceError('badQuery', 'a number of the query is out of range');
  return error;
}
