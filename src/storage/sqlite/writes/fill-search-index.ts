import { setTimeout as wait } from 'node:timers/promises';
import type { TableSchema } from '../../../schema/model.ts';
import { fillingIndex } from '../../../schema/search-index.ts';
import type { Connection } from '../connection/connection.ts';
import { fillSearchIndex, mergeSearchIndex } from '../schema/search-index.ts';
import { inSavepoint } from './transaction.ts';
import type { WriteQueue } from './write-queue.ts';

/** Milliseconds of a commit that others hardly notice: some four hundred records. */
const COMMIT_MS = 5;
/** Records of a step: of the first, and at the least and the most. */
const FIRST_COUNT = 100;
const MIN_COUNT = 10;
const MAX_COUNT = 1_000;
/** Milliseconds between two steps, at the least. */
const MIN_PAUSE_MS = 3;

/** What an index is filled through. */
export interface FillContext {
  readonly connection: Connection;
  readonly commits: Pick<WriteQueue, 'run'>;
  /** As it is in the transaction that is open. */
  table(): TableSchema | undefined;
  /** Says in the transaction that is open that the index is complete. */
  complete(): void;
}

/**
 * Fills a search index step by step, each in two commits of its own. Between two steps others have as much time as the step took, which is
 * longer the more there is to do.
 * @param isEnough asked before each step
 * @throws unavailable
 */
export async function fillInSteps({ commits, ...context }: FillContext, isEnough: () => boolean): Promise<void> {
  for (let count = FIRST_COUNT; !isEnough(); ) {
    const started = performance.now();
    const tookMs = await commits.run(() => fillSome(context, count));
    if (tookMs === null) return;
    const fitting = (count * COMMIT_MS) / Math.max(tookMs, 0.1);
    count = Math.round(Math.max(MIN_COUNT, Math.min(MAX_COUNT, 2 * count, fitting)));
    await commits.run(() => merge(context));
    await wait(Math.max(MIN_PAUSE_MS, performance.now() - started));
  }
}

type Within = Omit<FillContext, 'commits'>;

/** @returns the milliseconds that it took; `null` where nothing was left, or there is no such index any more */
function fillSome({ connection, table, complete }: Within, count: number): number | null {
  const filled = table();
  const index = filled && fillingIndex(filled);
  if (!index) return null;
  const started = performance.now();
  if (inSavepoint(connection, () => fillSearchIndex(connection, filled, index, count))) return performance.now() - started;
  complete();
  return null;
}

function merge({ connection, table }: Within): void {
  const filled = table();
  if (filled && fillingIndex(filled)) inSavepoint(connection, () => mergeSearchIndex(connection, filled, COMMIT_MS));
}
