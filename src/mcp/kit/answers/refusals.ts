import { ServiceError, serviceError } from '../../../errors/fail.ts';
import { advise } from '../../errors/advice.ts';

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
