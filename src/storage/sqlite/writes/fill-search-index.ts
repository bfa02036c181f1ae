import { setTimeout as wait } from 'node:timers/promises';
import type { TableSchema } from '../../../schema/model.ts';
import { fillingIndex } from '../../../schema/search-index.ts';
import type { Connection } from '../connection/connection.ts';
import { fillSearchIndex, mergeSearchIndex } from '../schema/search-index.ts';
import { inSavepoint } from './transaction.ts';
import type { WriteQueue } from './write-queue.ts';

/** Time of a commit that other writes hardly notice: about four hundred records. */
const TARGET_COMMIT_MS = 5;
/** Records of the first step, and the limits of a step. */
const FIRST_COUNT = 100;
const MIN_COUNT = 10;
const MAX_COUNT = 1_000;
/** Minimum delay between two steps. */
const MIN_DELAY_MS = 3;

/** What filling an index needs. */
export interface FillContext {
  readonly connection: Connection;
  readonly commits: Pick<WriteQueue, 'run'>;
  /** Returns the table as it is in the open transaction. */
  table(): TableSchema | undefined;
  /** Marks the index as complete, in the open transaction. */
  complete(): void;
}

/**
 * Fills a search index step by step, each in two commits. After each step, other writes get as much time as it took.
 * @param shouldStop polled before each step
 * @throws unavailable
 */
export async function fillInSteps({ commits, ...context }: FillContext, shouldStop: () => boolean): Promise<void> {
  for (let count = FIRST_COUNT; !shouldStop(); ) {
    const started = performance.now();
    const tookMs = await commits.run(() => fillSome(context, count));
    if (tookMs === null) return;
    const fitting = (count * TARGET_COMMIT_MS) / Math.max(tookMs, 0.1);
    count = Math.round(Math.max(MIN_COUNT, Math.min(MAX_COUNT, 2 * count, fitting)));
    await commits.run(() => merge(context));
    await wait(Math.max(MIN_DELAY_MS, performance.now() - started));
  }
}

type TransactionContext = Omit<FillContext, 'commits'>;

/** @returns the milliseconds that it took; `null` if nothing was left or the index no longer exists */
function fillSome({ connection, table, complete }: TransactionContext, count: number): number | null {
  const filled = table();
  const index = filled && fillingIndex(filled);
  if (!index) return null;
  const started = performance.now();
  if (inSavepoint(connection, () => fillSearchIndex(connection, filled, index, count))) return performance.now() - started;
  complete();
  return null;
}

function merge({ connection, table }: TransactionContext): void {
  const filled = table();
  if (filled && fillingIndex(filled)) inSavepoint(connection, () => mergeSearchIndex(connection, filled, TARGET_COMMIT_MS));
}
