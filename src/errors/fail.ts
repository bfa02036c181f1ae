import type { JsonObject } from '../kernel/json.ts';
import { catalogue, type ErrorKey } from './catalogue.ts';

/** An error of the catalogue. Any other error is a fault of the service: 500. */
export class ServiceError extends Error {
  readonly key: ErrorKey;
  readonly status: number;
  readonly code: number | undefined;
  /** Of a write of several records: the position of the one that failed; `undefined` if it is unknown, or there is only one. */
  item: number | undefined;
  /** Further members of the answer. */
  details: JsonObject | undefined;

  constructor(key: ErrorKey, text: string, details?: JsonObject) {
    super(text);
    this.name = 'ServiceError';
    this.key = key;
    this.status = catalogue[key].status;
    this.code = (catalogue[key] as { readonly code?: number }).code;
    this.details = details;
  }
}

/** Returns the error of a catalogue entry, with its text filled in. */
export function serviceError<K extends ErrorKey>(key: K, ...args: Parameters<(typeof catalogue)[K]['text']>): ServiceError {
  const text = (catalogue[key].text as (...values: unknown[]) => string)(...args);
  return new ServiceError(key, text);
}

/** Returns an error with the position of the record that it is about, unless it has one. */
export function errorOfItem(error: unknown, item: number | undefined): unknown {
  if (item !== undefined && error instanceof ServiceError) error.item ??= item;
  return error;
}

/** Returns the error of a catalogue entry, whose answer has further members. */
export function serviceErrorWith<K extends ErrorKey>(
  details: JsonObject,
  key: K,
  ...args: Parameters<(typeof catalogue)[K]['text']>
): ServiceError {
  return new ServiceError(key, serviceError(key, ...args).message, details);
}

/** Throws the error of a catalogue entry, with its text filled in. */
export function fail<K extends ErrorKey>(key: K, ...args: Parameters<(typeof catalogue)[K]['text']>): never {
  throw serviceError(key, ...args);
}

/**
 * Whether an error is likely to end by itself, so that the work is retried. The engines have classified their faults: passing ones are
 * `unavailable`, writes in doubt `outcomeUnknown`; any error that is no ServiceError is a fault of the service.
 * Reference: faults.md#passing-faults.
 */
export function isPassing(error: unknown): boolean {
  return isUnavailable(error) || isInDoubt(error) || isTimeout(error);
}

/** Whether a read has reached its time limit. */
export function isTimeout(error: unknown): boolean {
  return error instanceof ServiceError && error.key === 'timeout';
}

/** Whether nothing was done, because the service or its store is not available now. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.key === 'unavailable';
}

/** Whether a write may or may not have been committed. Reference: faults.md#writes-in-doubt. */
export function isInDoubt(error: unknown): boolean {
  return error instanceof ServiceError && error.key === 'outcomeUnknown';
}

/** Whether an error is a refusal: a retry would be refused again. */
export function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && !isPassing(error);
}
