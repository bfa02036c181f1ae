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

/** Whether an error is likely to be over soon: what it kept from being done is tried again. */
export function isPassing(error: unknown): boolean {
  return error instanceof ServiceError && (error.key === 'unavailable' || error.key === 'timeout');
}

/** Whether an error says that something is not to be done: tried again it would be refused again. */
export function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && !isPassing(error);
}
