import type { JsonObject } from '../../kernel/json.ts';
import type { Cause, RecordContext } from '../../records/index.ts';
import type { Schema } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import type { ActionServices, AutomationSystem } from '../model/action.ts';

/** A job that is retried until it succeeds or is given up: a queue row of the kind `mail` or `code`. */
export interface RetryableJob {
  /** objectId of its row. */
  readonly id: string;
  /** As written when the job was queued. */
  readonly state: JsonObject;
  /** Number of previous attempts. */
  readonly attempts: number;
  /** When it was queued, in milliseconds since 1970. */
  readonly queuedAt: number;
  /** Recorded as the cause of its writes. */
  readonly cause: Cause;
  /** Mutations that require that this process still owns the job, and remove it. Exactly one commit must include them. Part of `context`. */
  readonly done: (schema: Schema) => readonly Mutation[];
  /** A context with the master's rights and `cause`. A write with it completes the job: the attempt is then `committed`. */
  readonly context: RecordContext;
  /** The same without `done`: for reads, and for writes that do not complete the job. */
  readonly reading: RecordContext;
}

/** The result of an attempt. `steps` are added to the commit that records it. */
export type Attempt = {
  readonly steps?: (schema: Schema) => readonly Mutation[];
} /** `committed`: a write of the attempt's own had `done`, so that nothing is left to note. */ & (
  | { readonly kind: 'done'; readonly committed?: true }
  /** The job is given up; its row is removed. */
  | { readonly kind: 'failed' }
  /**
   * `delayMs`: delay before the next attempt. `isShared`: the cause affects all jobs of this kind for a while. `isUncounted`: the cause is not the
   * job's fault, so this attempt does not count towards giving up.
   */
  | { readonly kind: 'again'; readonly delayMs: number; readonly isShared?: boolean; readonly isUncounted?: boolean }
);

/** Makes one attempt. Transient errors that it throws are retried and not counted; other errors count as `again` after a minute. */
export type RetryableWork = (system: AutomationSystem, job: RetryableJob, services: ActionServices) => Promise<Attempt>;

/** The `state` of a job cannot be read, e.g. because the row was written by other means. The job is dropped. */
export class UnreadableJob extends Error {
  constructor() {
    super('What was queued cannot be read.');
  }
}
