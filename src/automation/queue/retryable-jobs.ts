import type { JsonObject } from '../../kernel/json.ts';
import type { Cause, RecordContext } from '../../records/index.ts';
import type { Schema } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import type { ActionParts, AutomationSystem } from '../model/action.ts';

/** Work that is tried until it succeeds, or for long enough: a row of the queue of the kind `mail` or `code`. */
export interface RetryableJob {
  /** objectId of its row. */
  readonly id: string;
  /** As whoever queued it wrote it. */
  readonly state: JsonObject;
  /** How often it was tried before. */
  readonly attempts: number;
  /** When it was queued, in milliseconds since 1970. */
  readonly queuedAt: number;
  /** Of whatever it writes. */
  readonly cause: Cause;
  /** The steps that end the job: its row is still ours, and goes. Exactly one commit has them. Part of `context`. */
  readonly done: (schema: Schema) => readonly Mutation[];
  /** The system's records as their master, with `cause`. A write with it ends the job: the attempt is then `committed`. */
  readonly context: RecordContext;
  /** The same without `done`: for reads, and for writes that do not end it. */
  readonly reading: RecordContext;
}

/** What came of an attempt. `steps` are those of the commit that notes it. */
export type Attempt = {
  readonly steps?: (schema: Schema) => readonly Mutation[];
} /** `committed`: a write of the attempt's own had `done`, so that nothing is left to note. */ & (
  | { readonly kind: 'done'; readonly committed?: true }
  /** Its row goes, too. */
  | { readonly kind: 'failed' }
  /**
   * `pause`: milliseconds until the next. `isShared`: what was in the way would be in the way of all others of its kind, for a while.
   * `isUncounted`: it was no fault of the work's: this one is none of the attempts after which it is given up.
   */
  | { readonly kind: 'again'; readonly pause: number; readonly isShared?: boolean; readonly isUncounted?: boolean }
);

/** One kind of such work. It throws faults that pass, which are tried again and not counted; others count as `again` after a minute. */
export type RetryableWork = (system: AutomationSystem, job: RetryableJob, parts: ActionParts) => Promise<Attempt>;

/** What a row says of its work cannot be read: a row that something else than the service wrote does no harm. */
export class UnreadableJob extends Error {
  constructor() {
    super('What was queued cannot be read.');
  }
}
