import { ServiceError } from '../../errors/fail.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { Schema } from '../../schema/model.ts';
import type { Mutation, Store } from '../../storage/port.ts';

/** Returns mutations for a commit. Pure. */
export type Steps = (schema: Schema) => readonly Mutation[];

/** Log text for an action that was running when its process ended. */
export const endedMessage = 'The process ended while this action ran; it is run again.';
/** Log text for an action that is given up after too many of these. */
export const givenUpMessage = 'The process ended each time while this action ran; it is not run again.';

/** This process no longer owns the job: another one has taken it over, or its row was removed. */
export class JobLost extends Error {}

/** A job cannot continue now; it is started again from its row later. */
export class JobPaused extends Error {}

/**
 * Commits mutations of a job, one of which requires that this process still owns it.
 * @throws JobLost if it does not; JobPaused if the commit failed otherwise
 */
export async function commit(store: Store, steps: Steps): Promise<void> {
  try {
    await store.write({ plan: (schema) => ({ changes: [], mutations: steps(schema) }) });
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'objectNotFound') throw new JobLost();
    throw new JobPaused('the progress of a job could not be noted', { cause: error });
  }
}

/** Returns the exponential backoff after a number of failures. @returns milliseconds: 1 s to 1 min */
export function backoff(failures: number): number {
  return Math.min(MINUTE_MS, 1_000 * 2 ** Math.min(failures, 16));
}

/** Returns the log text of an error. Faults reveal nothing. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ServiceError)) return 'server error';
  return error.message || `error ${error.code ?? error.status}`;
}
