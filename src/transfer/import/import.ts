import { setTimeout as pause } from 'node:timers/promises';
import { isInDoubt, isPassing, isRefusal, type ServiceError } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { RecordContext } from '../../records/index.ts';
import type { ImportRequest } from './columns/request.ts';
import type { SourceRow } from './columns/row.ts';
import type { ImportPlan } from './plan.ts';
import { DryRun, Undone } from './write/dry-run.ts';
import { type GroupOrder, type GroupResult, runGroup } from './write/group.ts';
import { MadeRecords } from './write/made.ts';
import { type Counts, type ImportProgress, nothingDone } from './write/progress.ts';
import { RowFeed } from './write/row-feed.ts';

/** Who else works on the store: nobody; a service whose writes wait while a commit is under way; others, who go on meanwhile. */
export type Company = 'none' | 'waiting' | 'working';

/**
 * Rows that share a commit. Many, since pages of indexes are written once for each commit; few where others wait; and not too many where they
 * work, since a new column keeps them from the table until the commit.
 */
const groupSizes: Readonly<Record<Company, number>> = { none: 100_000, waiting: 500, working: 5_000 };
/** Characters of a group's rows, of which those that are refused are held until its commit. */
const MAX_GROUP_LENGTH = 32 * 1024 * 1024;
/** Rows that are given to the store at once: they share a round trip, and a query for what they ask. */
const SLICE_ROWS = 1_000;
/** The same where nothing is far, nor asked: what is made of few rows is gone before memory is tidied, which else takes a third of the time. */
const SMALL_SLICE_ROWS = 50;
/** Milliseconds after which a group ends, however few its rows: what is done so far is to be durable, and told. */
const MAX_GROUP_MS = 4_000;
/** Milliseconds for which a group is tried again while the store is away. */
const PATIENCE_MS = 120_000;
/** Milliseconds until it is tried again, at least: a commit without an answer may be carried out a little late. */
const AGAIN_MS = 1_000;

/** A row that was not imported. */
export interface RejectedRow {
  /** Which; see `SourceRow`. */
  readonly row: SourceRow;
  readonly error: ServiceError;
}

/** What came of a file. */
export interface ImportResult extends Omit<Counts, 'rejectedBytes'> {
  /** Rows of which something was not taken over, by its name. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/** What is told in the course of an import. */
export interface ImportEvents {
  /**
   * Keeps the rejected rows of a group, before its commit: those kept behind the position are of a group that was undone, and are dropped.
   * @param position where those of the groups before end
   * @returns where these end
   */
  keep(rows: readonly RejectedRow[], position: number): Promise<number>;
  /** A row was refused, and that is settled. Called in the order of rows. */
  rejected(row: RejectedRow): void;
  /** A group is durable. */
  progressed(counts: Counts): void;
}

/** How an import is carried out. */
export interface ImportRun {
  /** Asked before each group. */
  readonly company: () => Company;
  /** `null`: nothing is written, and the rest is as if it were. */
  readonly progress: ImportProgress | null;
  readonly events: ImportEvents;
}

/**
 * Makes a record of each row of a file, or changes the record that it is, in order; a row that is refused is reported and the others go on,
 * as in a batch. A group that the store was away for, or that a read took too long for, is tried again for a while, as a whole: nothing of it
 * was done. How far the import is, is part of each commit: one that was cut goes on there.
 * @throws OperatorError where another process has taken the import over; unavailable, outcomeUnknown, timeout and faults, which end the
 *   import: groups before stay imported
 */
export async function importRecords(
  context: RecordContext,
  request: ImportRequest,
  plan: Pick<ImportPlan, 'read' | 'fields' | 'linkedBy' | 'looksUp'>,
  { company, progress, events }: ImportRun,
): Promise<ImportResult> {
  const dry = progress === null ? new DryRun(request.className) : null;
  const importing: Importing = {
    context,
    order: { request, fields: plan.fields, linkedBy: plan.linkedBy, asks: plan.looksUp || dry !== null },
    progress,
    dry,
    made: new MadeRecords(dry !== null),
    events,
  };
  const leftOut = new Map<string, number>();
  let counts = progress?.counts ?? nothingDone;
  const feed = new RowFeed(plan.read, counts.done);
  try {
    while (await feed.hasMore()) {
      const begun = performance.now();
      const among = company();
      const sliceRows = plan.looksUp || among === 'working' ? SLICE_ROWS : SMALL_SLICE_ROWS;
      // What a dry run tries depends on its groups, so they do not depend on the time.
      const limit = dry ? { rows: dry.groupSize, sliceRows } : { rows: groupSizes[among], ms: MAX_GROUP_MS, sliceRows };
      const group = await runInTime(importing, feed, limit, counts);
      counts = group.counts;
      for (const [name, count] of group.leftOut) leftOut.set(name, (leftOut.get(name) ?? 0) + count);
      for (const row of group.rejected) events.rejected(row);
      events.progressed(counts);
      // The service's writes have their turn for as long as they have waited.
      if (limit.rows <= groupSizes.waiting && company() === 'waiting') await pause(performance.now() - begun);
    }
  } finally {
    await feed.close();
  }
  if (progress) await inTime(context, () => progress.finish());
  return { ...counts, leftOut };
}

/** An import that is under way. */
interface Importing {
  readonly context: RecordContext;
  readonly order: GroupOrder;
  readonly progress: ImportProgress | null;
  readonly dry: DryRun | null;
  readonly made: MadeRecords;
  readonly events: ImportEvents;
}

/** Where a group ends at the latest. */
interface GroupLimit {
  readonly rows: number;
  /** Left out: it takes its time. */
  readonly ms?: number;
  readonly sliceRows: number;
}

/** The rows of the next group, a slice after the other. */
async function* slicesOf(feed: RowFeed, { rows, ms, sliceRows }: GroupLimit): AsyncGenerator<readonly SourceRow[]> {
  const late = ms === undefined ? null : AbortSignal.timeout(ms);
  let left = rows;
  let length = 0;
  while (left > 0 && length < MAX_GROUP_LENGTH && !late?.aborted) {
    const slice = await feed.next(Math.min(left, sliceRows));
    if (slice.length === 0) return;
    yield slice;
    left -= slice.length;
    for (const row of slice) length += row.length;
  }
}

/** What came of a group, and how far the import is by it. */
interface Done extends GroupResult {
  readonly counts: Counts;
}

/** Carries a group out, again and again for a while where its store is away. */
async function runInTime(importing: Importing, feed: RowFeed, limit: GroupLimit, before: Counts): Promise<Done> {
  const { context, progress, made } = importing;
  const until = performance.now() + PATIENCE_MS;
  let tried = limit;
  for (;;) {
    let reached: Done | undefined;
    try {
      const done = await runOnce(importing, slicesOf(feed, tried), before, (one) => {
        reached = one;
      });
      made.next();
      return done;
    } catch (error) {
      made.undo();
      if (progress === null || reached === undefined) {
        if (!isPassing(error) || !(await isBack(context.store, until))) throw error;
        await feed.begin(before.done);
        continue;
      }
      const { counts } = reached;
      // Where the commit had no answer, or one before it that had none was carried out late.
      const isMoved = isRefusal(error) && error.key === 'objectNotFound';
      if (!isMoved && !(isPassing(error) && (await isBack(context.store, until)))) throw error;
      if ((isMoved || isInDoubt(error)) && (await inTime(context, () => progress.wasCommitted(counts), until))) return reached;
      if (isMoved) throw new OperatorError('another process has taken this import over');
      // The same rows: a commit without an answer may still be carried out, and is known by how far it came.
      tried = { rows: counts.done - before.done, sliceRows: limit.sliceRows };
      await feed.begin(before.done);
    }
  }
}

/** @param reached told of what the group has come to, before its commit */
async function runOnce(
  { context, order, progress, dry, made, events }: Importing,
  slices: AsyncIterable<readonly SourceRow[]>,
  before: Counts,
  reached: (done: Done) => void,
): Promise<Done> {
  const lookUp = { context, schema: context.store.schema() };
  try {
    return await context.store.bulkTransaction(async (within) => {
      const inside = { ...context, store: within };
      await dry?.begin(within);
      const group = await runGroup(inside, lookUp, order, slices, made);
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
      await progress?.note(within, before, counts);
      dry?.end(within, done);
      return done;
    });
  } catch (error) {
    if (error instanceof Undone) return error.result as Done;
    throw error;
  }
}

/** Waits until a store works. @returns false where that takes too long */
async function isBack(store: RecordContext['store'], until: number): Promise<boolean> {
  await pause(AGAIN_MS);
  const late = new AbortController();
  const isLate = pause(Math.max(0, until - performance.now()), false, { signal: late.signal }).catch(() => false);
  const back = await Promise.race([store.whenBack().then(() => true), isLate]);
  late.abort();
  return back && performance.now() < until;
}

/** Does what may be done twice, again and again for a while where the store is away. @throws what is in the way for too long */
async function inTime<T>({ store }: RecordContext, work: () => Promise<T>, until = performance.now() + PATIENCE_MS): Promise<T> {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || !(await isBack(store, until))) throw error;
    }
}
