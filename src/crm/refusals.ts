import { ServiceError, serviceError } from '../errors/fail.ts';

/** An error about the arguments that only the tool can know. @param next the tool to call next */
export function badArguments(why: string, advice: { readonly expected?: string; readonly next?: string } = {}): never {
  throw advise(serviceError('invalidArguments', why), advice);
}

/** What `read` gives; `otherwise` where the catalogue refuses it by one of the keys: parts of an answer that the caller may not see. */
export async function unless<T, U>(keys: readonly ServiceError['key'][], otherwise: U, read: () => Promise<T>): Promise<T | U> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && keys.includes(error.key)) return otherwise;
    throw error;
  }
}

/** What keeps a part of an answer from a caller by the permissions of its table. */
export const unseen = ['permissionDenied', 'fieldDenied', 'needsAuthentication'] as const;

/** What a record that is not there is told with. */
export const notThere = { expected: 'The record does not exist, or you may not see it', next: 'Get-Data' } as const;

/** What helps an agent to do better next time. */
export interface Advice {
  /** The form that is expected, as a sentence without its full stop. */
  readonly expected?: string;
  /** The tool to call next. */
  readonly next?: string;
}

const given = new WeakMap<Error, Advice>();

/** An error with advice of the tool's own, which counts before the general one. @returns the same error, to be thrown */
export function advise(error: ServiceError, advice: Advice): ServiceError {
  given.set(error, advice);
  return error;
}

/** The advice that a tool gave. */
export function adviceOf(error: ServiceError): Advice | undefined {
  return given.get(error);
}

/** Does something with records that a tool lists; where one is not there (101), that tool comes next. @param next its name */
export async function listedBy<T>(next: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'objectNotFound' && !given.has(error))
      throw advise(error, { ...notThere, next });
    throw error;
  }
}
