import { catalogue, type ErrorKey } from './catalogue.ts';

/** An error of the catalogue, on its way to the caller. Anything else that is thrown is a fault of ours: 500. */
export class ServiceError extends Error {
  readonly key: ErrorKey;
  readonly status: number;
  readonly code: number | undefined;

  constructor(key: ErrorKey, text: string) {
    super(text);
    this.name = 'ServiceError';
    this.key = key;
    this.status = catalogue[key].status;
    this.code = (catalogue[key] as { readonly code?: number }).code;
  }
}

/** The error of a catalogue entry, its text filled in. */
export function serviceError<K extends ErrorKey>(key: K, ...args: Parameters<(typeof catalogue)[K]['text']>): ServiceError {
  const text = (catalogue[key].text as (...values: unknown[]) => string)(...args);
  return new ServiceError(key, text);
}

/** Throws the error of a catalogue entry, its text filled in. */
export function fail<K extends ErrorKey>(key: K, ...args: Parameters<(typeof catalogue)[K]['text']>): never {
  throw serviceError(key, ...args);
}

/**
 * Whether an error is likely to be over soon: what it kept from being done is tried again. The engines have sorted their faults by then
 * (CONTRACT "Faults of the store"): those that can pass are `unavailable`, writes in doubt `outcomeUnknown`; whatever else is no ServiceError
 * is a fault of ours.
 */
export function isPassing(error: unknown): boolean {
  return isUnavailable(error) || isInDoubt(error) || isTimeout(error);
}

/** Whether a read has reached its time limit. */
export function isTimeout(error: unknown): boolean {
  return error instanceof ServiceError && error.key === 'timeout';
}

/** Whether nothing was done since the service, or what it stands on, is not available now. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.key === 'unavailable';
}

/** Whether a write may have been carried out, or not: nobody knows. */
export function isInDoubt(error: unknown): boolean {
  return error instanceof ServiceError && error.key === 'outcomeUnknown';
}

/** Whether an error says that something is not to be done: tried again it would be refused again. */
export function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && !isPassing(error);
}
