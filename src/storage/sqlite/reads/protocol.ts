import type { ErrorKey } from '../../../errors/catalogue.ts';
import type { ByIdsPlan, ReadPlan } from '../../sql/reads/read-plan.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { SentFault } from '../connection/map-error.ts';

/** Chunks of an answer that may be in transit to the event loop before the reader thread waits. */
export const CREDITS = 8;

/** Start data of a reader thread. */
export interface ReaderSetup {
  /** The event loop writes a task's number here to interrupt its running statement. */
  readonly cancelled: Int32Array;
}

/** The statements of one query. */
export interface FindPlans {
  /** Number of removals from the schema when the plans were made. */
  readonly removals: number;
  readonly list: ReadPlan | null;
  readonly count: Statement | null;
  /** The answer is the text of the list's single record, not an array. */
  readonly isOne?: true;
}

/** Messages from the event loop to a reader thread. */
export type ToReader =
  | { readonly type: 'find'; readonly task: number; readonly path: string; readonly plans: FindPlans; readonly budget: number }
  /** The answer to `resolve`. */
  | { readonly type: 'resolved'; readonly task: number; readonly plan: ByIdsPlan | null }
  /** One more chunk may be sent. */
  | { readonly type: 'credit'; readonly task: number }
  | { readonly type: 'cancel'; readonly task: number }
  | MaintenanceTask;

/** Maintenance work on a file, off the event loop; task numbers are negative. */
export interface MaintenanceTask {
  /**
   * `forget`: close the connections to the file, those in use when they are returned. `checkpoint`: copy the WAL into it. `restart`: the same and
   * restart the WAL, which blocks writers. `check`: verify the whole file.
   */
  readonly type: 'forget' | 'checkpoint' | 'restart' | 'check';
  readonly task: number;
  readonly path: string;
}

/** The result of maintenance work. */
export interface MaintenanceResult {
  /** Why it failed. */
  readonly fault?: SentFault;
  /** Pages of the WAL, and how many of them are in the file. */
  readonly pages?: number;
  readonly copied?: number;
  readonly isRestarted?: boolean;
}

/** Messages from a reader thread to the event loop. */
export type FromReader =
  /** The thread is running. */
  | { readonly type: 'started'; readonly task: 0 }
  | { readonly type: 'count'; readonly task: number; readonly count: number }
  /** A complete short answer: records as JSON text, comma-separated. */
  | { readonly type: 'whole'; readonly task: number; readonly text: string }
  /**
   * A chunk of a long answer, with the commas between chunks. `held`: characters of the rows that the thread keeps in memory. `rows`: number of those
   * read so far.
   */
  | { readonly type: 'piece'; readonly task: number; readonly text: string; readonly held: number; readonly rows: number }
  /** A long answer is complete. */
  | { readonly type: 'end'; readonly task: number }
  | { readonly type: 'done'; readonly task: number; readonly result: MaintenanceResult }
  /** Something was removed from the schema since the plans were made. */
  | { readonly type: 'stale'; readonly task: number }
  | {
      readonly type: 'failed';
      readonly task: number;
      readonly key: ErrorKey;
      readonly text: string;
      /** Text of a programming error, for the log. */
      readonly fault?: string;
      /** A transient fault. */
      readonly cause?: SentFault;
    }
  /** Requests the plan that reads records of a class found in an Array. */
  | {
      readonly type: 'resolve';
      readonly task: number;
      readonly path: readonly number[];
      readonly classes: readonly string[];
      readonly className: string;
    };

/** Formats a programming error for the log. */
export function faultText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
