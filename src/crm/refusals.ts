import { ServiceError, serviceError } from '../errors/fail.ts';

/** Throws `invalidArguments` (107) for a fault that only the tool can detect. @param next the tool to call next */
export function badArguments(why: string, advice: { readonly expected?: string; readonly next?: string } = {}): never {
  throw advise(serviceError('invalidArguments', why), advice);
}

/** Returns the result of `read`, or `otherwise` if it fails with one of the error keys, e.g. for parts of an answer that the caller may not see. */
export async function unless<T, U>(keys: readonly ServiceError['key'][], otherwise: U, read: () => Promise<T>): Promise<T | U> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && keys.includes(error.key)) return otherwise;
    throw error;
  }
}

/** Error keys by which the permissions of a table hide a part of an answer from the caller. */
export const accessErrors = ['permissionDenied', 'fieldDenied', 'needsAuthentication'] as const;

/** Advice for a record that does not exist. */
export const notThere = { expected: 'The record does not exist, or you may not see it', next: 'Get-Data' } as const;

/** Advice in an error that helps an agent to correct its next call. */
export interface Advice {
  /** The expected form, as a sentence without its full stop. */
  readonly expected?: string;
  /** The tool to call next. */
  readonly next?: string;
}

const given = new WeakMap<Error, Advice>();

/** Attaches advice to an error; it takes precedence over the general advice. @returns the same error, to be thrown */
export function advise(error: ServiceError, advice: Advice): ServiceError {
  given.set(error, advice);
  return error;
}

/** Returns the advice that a tool attached to an error. */
export function adviceOf(error: ServiceError): Advice | undefined {
  return given.get(error);
}

/** Runs work on records that a tool lists; if one does not exist (101), the error recommends that tool. @param next its name */
export async function listedBy<T>(next: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'objectNotFound' && !given.has(error))
      throw advise(error, { ...notThere, next });
    throw error;
  }
}
