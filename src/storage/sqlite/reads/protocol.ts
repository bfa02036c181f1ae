import type { ErrorKey } from '../../../errors/catalogue.ts';
import type { ByIdsPlan, ReadPlan } from '../../sql/reads/read-plan.ts';
import type { Statement } from '../../sql/writer.ts';
import type { SentFault } from '../connection/map-error.ts';

/** Pieces of an answer that may be under way to the event loop before the reader thread waits. */
export const CREDITS = 8;

/** What a reader thread is started with. */
export interface ReaderSetup {
  /** The event loop writes the number of a task here to end it in the middle of a statement. */
  readonly cancelled: Int32Array;
}

/** The statements of one query. */
export interface FindPlans {
  /** How often something had been taken out of the schema that the jobs were made under. */
  readonly removals: number;
  readonly list: ReadPlan | null;
  readonly count: Statement | null;
  /** The answer is the text of the one record of the list, not an array. */
  readonly isOne?: true;
}

/** From the event loop to a reader thread. */
export type ToReader =
  | { readonly type: 'find'; readonly task: number; readonly path: string; readonly jobs: FindPlans; readonly budget: number }
  /** The answer to `resolve`. */
  | { readonly type: 'resolved'; readonly task: number; readonly job: ByIdsPlan | null }
  /** One more piece may come. */
  | { readonly type: 'credit'; readonly task: number }
  | { readonly type: 'cancel'; readonly task: number }
  | MaintenanceTask;

/** Work on a file, off the event loop; numbered below zero. */
export interface MaintenanceTask {
  /**
   * Close the connections to the file, when those that are in use have come back; copy the log of changes into it; the same, so that the log
   * begins anew, which keeps writers waiting; read the whole file through.
   */
  readonly type: 'forget' | 'copy the log' | 'begin the log anew' | 'check';
  readonly task: number;
  readonly path: string;
}

/** What came of an errand. */
export interface MaintenanceResult {
  /** What kept it from being done. */
  readonly fault?: SentFault;
  /** Of the log: its pages, and how many of them the file has. */
  readonly pages?: number;
  readonly copied?: number;
  readonly isBegunAnew?: boolean;
}

/** From a reader thread to the event loop. */
export type FromReader =
  /** The thread has been started. */
  | { readonly type: 'started'; readonly task: 0 }
  | { readonly type: 'count'; readonly task: number; readonly count: number }
  /** A short answer, all of it: records as JSON text, comma-separated. */
  | { readonly type: 'whole'; readonly task: number; readonly text: string }
  /** A piece of a long answer; commas between pieces included. `held`: characters of the rows that the thread has in memory. */
  | { readonly type: 'piece'; readonly task: number; readonly text: string; readonly held: number }
  /** A long answer has come to its end. */
  | { readonly type: 'end'; readonly task: number }
  | { readonly type: 'done'; readonly task: number; readonly result: MaintenanceResult }
  /** Something was taken out of the schema since the jobs were made. */
  | { readonly type: 'stale'; readonly task: number }
  | {
      readonly type: 'failed';
      readonly task: number;
      readonly key: ErrorKey;
      readonly text: string;
      /** A fault of ours. */
      readonly fault?: string;
      /** One that can pass. */
      readonly cause?: SentFault;
    }
  /** Asks for the read of records of a class that an Array has turned out to name. */
  | {
      readonly type: 'resolve';
      readonly task: number;
      readonly path: readonly number[];
      readonly classes: readonly string[];
      readonly className: string;
    };

/** A fault of ours as the log shows it. */
export function faultText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
