import { ServiceError } from '../../errors/fail.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { Schema } from '../../schema/model.ts';
import type { Mutation, Store } from '../../storage/port.ts';

/** Steps of a commit. Pure. */
export type Steps = (schema: Schema) => readonly Mutation[];

/** What the log says of an action that was running when its process ended. */
export const endedMessage = 'The process ended while this action ran; it is run again.';
/** Of one that was so too often. */
export const givenUpMessage = 'The process ended each time while this action ran; it is not run again.';

/** A job is not this process's any more: another one has taken it over, or its row was removed. */
export class JobLost extends Error {}

/** A job cannot go on now; it is to be begun again from its row. */
export class JobPaused extends Error {}

/**
 * Commits steps of a job, one of which makes sure that the job is still this process's.
 * @throws JobLost where it is not; JobPaused where the commit failed otherwise
 */
export async function commit(store: Store, steps: Steps): Promise<void> {
  try {
    await store.write({ plan: (schema) => ({ changes: [], mutations: steps(schema) }) });
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'objectNotFound') throw new JobLost();
    throw new JobPaused('the progress of a job could not be noted', { cause: error });
  }
}

/** A pause that grows with the number of failures. @returns milliseconds: 1 s … 1 min */
export function backoff(failures: number): number {
  return Math.min(MINUTE_MS, 1_000 * 2 ** Math.min(failures, 16));
}

/** What the log says of an error; faults show nothing of themselves. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ServiceError)) return 'server error';
  return error.message || `error ${error.code ?? error.status}`;
}
