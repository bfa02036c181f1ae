import { setTimeout as pause } from 'node:timers/promises';
import { isInDoubt, isPassing, isRefusal, type ServiceError } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { RecordContext } from '../../records/index.ts';
import type { ImportRequest } from './columns/request.ts';
import type { SourceRow } from './columns/row.ts';
import type { ImportPlan } from './plan.ts';
import { CreatedRecords } from './write/created-records.ts';
import { DryRun, RolledBack } from './write/dry-run.ts';
import { type GroupResult, type GroupSpec, runGroup } from './write/group.ts';
import { type Counts, type ImportProgress, nothingDone } from './write/progress.ts';
import { RowFeed } from './write/row-feed.ts';

/** Other processes on the same store: none; a service whose writes wait during a commit; or processes that continue to work. */
export type OtherProcesses = 'none' | 'waiting' | 'working';

/**
 * Rows per commit. Many, because each commit writes index pages; few if other writes wait; not too many if others work, because a new column locks
 * the
 * table until the commit.
 */
const groupSizes: Readonly<Record<OtherProcesses, number>> = { none: 100_000, waiting: 500, working: 5_000 };
/** Maximum number of characters of a group; rejected rows are held in memory until the commit. */
const MAX_GROUP_LENGTH = 32 * 1024 * 1024;
/** Rows passed to the store at once: they share a round trip and a lookup query. */
const BATCH_ROWS = 1_000;
/** The same for a local store without lookups: short-lived objects of few rows are collected cheaply, which saves a third of the time. */
const SMALL_BATCH_ROWS = 50;
/** Maximum duration of a group, so that progress is committed and reported regularly. */
const MAX_GROUP_MS = 4_000;
/** A group is retried for this long while the store is unavailable. */
export const MAX_RETRY_MS = 120_000;
/** Minimum delay before a retry: a commit without an answer may complete slightly late. */
const RETRY_DELAY_MS = 1_000;

/** A row that was not imported. */
export interface RejectedRow {
  /** Which; see `SourceRow`. */
  readonly row: SourceRow;
  readonly error: ServiceError;
}

/** Result of an import. */
export interface ImportResult extends Omit<Counts, 'rejectedBytes'> {
  /** Number of rows by the name of what was not imported from them. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/** Events of an import. */
export interface ImportEvents {
  /**
   * Stores the rejected rows of a group, before its commit. Rows stored after the position belong to a group that was rolled back, and are dropped.
   * @param position end of the rejected rows of previous groups
   * @returns the new end
   */
  keep(rows: readonly RejectedRow[], position: number): Promise<number>;
  /** A row was rejected, durably. Called in the order of rows. */
  rejected(row: RejectedRow): void;
  /** A group was committed. */
  progressed(counts: Counts): void;
}

/** Environment of an import. */
export interface ImportRun {
  /** Called before each group. */
  readonly otherProcesses: () => OtherProcesses;
  /** `null` for a dry run. */
  readonly progress: ImportProgress | null;
  readonly events: ImportEvents;
}

/**
 * Creates or updates one record per row of a file, in order. Rejected rows are reported and the others continue, as in a batch. If the store is
 * unavailable,
 * or a read times out, the whole group is retried for a while; nothing of it was committed. Each commit contains the progress, from which an
 * interrupted
 * import continues. Reference: import.md#import-command.
 * @throws OperatorError if another process has taken over the import; unavailable, outcomeUnknown, timeout and faults end it: previous groups stay
 * imported
 */
export async function importRecords(
  context: RecordContext,
  request: ImportRequest,
  plan: Pick<ImportPlan, 'read' | 'fields' | 'linkedBy' | 'looksUp'>,
  { otherProcesses, progress, events }: ImportRun,
): Promise<ImportResult> {
  const dry = progress === null ? new DryRun(request.className) : null;
  const importing: Importing = {
    context,
    spec: { request, fields: plan.fields, linkedBy: plan.linkedBy, readsOwnWrites: plan.looksUp || dry !== null },
    progress,
    dry,
    createdRecords: new CreatedRecords(dry !== null),
    events,
  };
  const leftOut = new Map<string, number>();
  let counts = progress?.counts ?? nothingDone;
  const feed = new RowFeed(plan.read, counts.done);
  try {
    while (await feed.hasMore()) {
      const begun = performance.now();
      const among = otherProcesses();
      const batchRows = plan.looksUp || among === 'working' ? BATCH_ROWS : SMALL_BATCH_ROWS;
      // Results of a dry run depend on its groups, so these must not depend on the time.
      const limit = dry ? { rows: dry.groupSize, batchRows } : { rows: groupSizes[among], ms: MAX_GROUP_MS, batchRows };
      const group = await runWithRetry(importing, feed, limit, counts);
      counts = group.counts;
      for (const [name, count] of group.leftOut) leftOut.set(name, (leftOut.get(name) ?? 0) + count);
      for (const row of group.rejected) events.rejected(row);
      events.progressed(counts);
      // Leaves the service as much time for its writes as they have waited.
      if (limit.rows <= groupSizes.waiting && otherProcesses() === 'waiting') await pause(performance.now() - begun);
    }
  } finally {
    await feed.close();
  }
  if (progress) await retryWhileAway(context, () => progress.finish());
  return { ...counts, leftOut };
}

/** State of an import. */
interface Importing {
  readonly context: RecordContext;
  readonly spec: GroupSpec;
  readonly progress: ImportProgress | null;
  readonly dry: DryRun | null;
  readonly createdRecords: CreatedRecords;
  readonly events: ImportEvents;
}

/** Limits of a group. */
interface GroupLimit {
  readonly rows: number;
  /** Unlimited if absent. */
  readonly ms?: number;
  readonly batchRows: number;
}

/** Returns the rows of the next group in batches. */
async function* batchesOf(feed: RowFeed, { rows, ms, batchRows }: GroupLimit): AsyncGenerator<readonly SourceRow[]> {
  const late = ms === undefined ? null : AbortSignal.timeout(ms);
  let left = rows;
  let length = 0;
  while (left > 0 && length < MAX_GROUP_LENGTH && !late?.aborted) {
    const batch = await feed.next(Math.min(left, batchRows));
    if (batch.length === 0) return;
    yield batch;
    left -= batch.length;
    for (const row of batch) length += row.length;
  }
}

/** Result of a group, with the progress after it. */
interface GroupDone extends GroupResult {
  readonly counts: Counts;
}

/** Executes a group, retrying for a while if its store is unavailable. */
async function runWithRetry(importing: Importing, feed: RowFeed, limit: GroupLimit, before: Counts): Promise<GroupDone> {
  const { context, progress, createdRecords } = importing;
  const until = performance.now() + MAX_RETRY_MS;
  let tried = limit;
  for (;;) {
    let reached: GroupDone | undefined;
    try {
      const done = await runOnce(importing, batchesOf(feed, tried), before, (one) => {
        reached = one;
      });
      createdRecords.next();
      return done;
    } catch (error) {
      createdRecords.undo();
      if (progress === null || reached === undefined) {
        if (!isPassing(error) || !(await waitForStore(context.store, until))) throw error;
        await feed.begin(before.done);
        continue;
      }
      const { counts } = reached;
      // The progress row has changed: the commit without an answer, or an earlier one, completed late.
      const isMoved = isRefusal(error) && error.key === 'objectNotFound';
      if (!isMoved && !(isPassing(error) && (await waitForStore(context.store, until)))) throw error;
      if ((isMoved || isInDoubt(error)) && (await retryWhileAway(context, () => progress.wasCommitted(counts), until)))
        return reached;
      if (isMoved) throw new OperatorError('another process has taken this import over');
      // Retries exactly the same rows: a commit that completes late is recognised by its progress.
      tried = { rows: counts.done - before.done, batchRows: limit.batchRows };
      await feed.begin(before.done);
    }
  }
}

/** Executes a group once. @param reached called with the result before the commit */
async function runOnce(
  { context, spec, progress, dry, createdRecords, events }: Importing,
  batches: AsyncIterable<readonly SourceRow[]>,
  before: Counts,
  reached: (done: GroupDone) => void,
): Promise<GroupDone> {
  const lookUp = { context, schema: context.store.schema() };
  try {
    return await context.store.bulkTransaction(async (within) => {
      const inside = { ...context, store: within };
      await dry?.begin(within);
      const group = await runGroup(inside, lookUp, spec, batches, createdRecords);
      const rejectedBytes = await events.keep(group.rejected, before.rejectedBytes);
      const counts = {
        done: before.done + group.rows,
        created: before.created + group.created,
        updated: before.updated + group.updated,
        rejected: before.rejected + group.rejected.length,
        rejectedBytes,
      };
      const done = { ...group, counts };
      reached(done);
      await progress?.record(within, before, counts);
      dry?.end(within, done);
      return done;
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.result as GroupDone;
    throw error;
  }
}

/** Waits until a store is available. @returns false on timeout */
async function waitForStore(store: RecordContext['store'], until: number): Promise<boolean> {
  await pause(RETRY_DELAY_MS);
  const late = new AbortController();
  const isLate = pause(Math.max(0, until - performance.now()), false, { signal: late.signal }).catch(() => false);
  const back = await Promise.race([store.whenBack().then(() => true), isLate]);
  late.abort();
  return back && performance.now() < until;
}

/** Runs idempotent work, retrying for a while if the store is unavailable. @throws the last error */
async function retryWhileAway<T>(
  { store }: RecordContext,
  work: () => Promise<T>,
  until = performance.now() + MAX_RETRY_MS,
): Promise<T> {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || !(await waitForStore(store, until))) throw error;
    }
}
