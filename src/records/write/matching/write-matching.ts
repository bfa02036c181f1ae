import { setImmediate as nextTurn } from 'node:timers/promises';
import { actorId, authorize, refuseOutright } from '../../../access/index.ts';
import { FairQueue } from '../../../admission/fair-queue.ts';
import { fail, isPassing, ServiceError, serviceError } from '../../../errors/fail.ts';
import { type JsonObject, maxJsonBytes } from '../../../kernel/json.ts';
import type { MatchingOptions } from '../../../query/index.ts';
import type { SortedIds } from '../../../storage/sorted-ids.ts';
import type { RecordContext } from '../../context/context.ts';
import { checkWrites } from '../batch-write.ts';
import { type Group, GroupWriter, type MatchingWrite } from './group-writer.ts';
import { MatchingRecords } from './matching-records.ts';
import { Outcomes } from './outcomes.ts';

/** Maximum number of records written together: they share a commit as far as the engine lets them. Other requests get in between. */
const GROUP_RECORDS = 500;
/** The same for tables with rules of their own, which read and hash before each write. */
const GROUP_RULED_RECORDS = 50;
/** Maximum bytes of JSON that the records of a group are given together. */
const GROUP_BYTES = 16 * 1024 * 1024;

/**
 * The writes of this kind that run at once, in all systems, and those that wait. Each keeps the writers of its system busy, so more would only take
 * turns; a system does not wait for another one's.
 */
const queue = new FairQueue({ concurrency: 4, guaranteedPerSystem: 1, maxWaiting: 100 });

/** The answer to a write by `where`. */
export interface MatchingAnswer {
  readonly matched: number;
  /** Left out of a dry run. */
  readonly written?: number;
  /** `{objectId, code, error}` of records that were not written; at most `MAX_LISTED`. Left out of a dry run. */
  readonly refused?: readonly JsonObject[];
  /** Number of refused records, if not all are listed. */
  readonly refusedCount?: number;
}

/**
 * Updates or deletes all records that match, each as a single write would: its rights, rules, history and triggers. Which records match is read once,
 * before the first write; each is written only if it still matches. A commit holds one group of them, so an interruption leaves whole groups.
 * Reference: records.md#write-many-records.
 * @param shouldStop polled between groups: whether the client has left or the service stops
 * @throws otherCount (409); captcha, permissionDenied (119); badParameterValue (102) without a `where`, or with an empty one and no `expect`; what
 *   the options, a query and the planning of an update throw, before anything is written; passing faults, with `matched` and the number of records
 *   written so far as details
 */
export async function writeMatching(
  context: RecordContext,
  write: MatchingWrite,
  options: MatchingOptions,
  shouldStop: () => boolean = () => false,
): Promise<MatchingAnswer> {
  const { store, principal } = context;
  const { kind, className } = write;
  refuseOutright(principal, kind, className, '*');
  options.refuseUnknown?.();
  const { where, expect, dryRun = false } = options;
  if (where === undefined) return fail('badParameterValue', 'where', 'is required');
  if (Object.keys(where).length === 0 && expect === undefined && !dryRun)
    return fail('badParameterValue', 'expect', 'is required if where is {}');
  const schema = store.schema();
  const table = schema.tables.get(className);
  if (table) authorize(principal, kind, table, schema);
  await checkBody(context, write);
  const matching = new MatchingRecords(context, className, where);
  if (dryRun) {
    const matched = await matching.count();
    refuseOther(matched, expect);
    return { matched };
  }
  const turn = { system: store, caller: actorId(principal) ?? '', isAbandoned: shouldStop };
  return queue.run(turn, async () => {
    const since = performance.now();
    const ids = await matching.ids();
    try {
      refuseOther(ids.count, expect);
      const outcomes = new Outcomes(ids.count);
      const writer = new GroupWriter(context, write, matching, outcomes);
      await describingProgress(outcomes, kind, async () => {
        for await (const group of groupsOf(ids, groupSize(context, write), matching)) {
          if (shouldStop()) fail('unavailable');
          await writer.write(group);
          await nextTurn();
        }
      });
      observeWrite(context, write, matching, { ms: performance.now() - since, rows: outcomes.written });
      return { matched: outcomes.matched, written: outcomes.written, ...outcomes.answer() };
    } finally {
      await ids.close();
    }
  });
}

/** Reports a write that took long; its reads are reported by themselves. */
function observeWrite(
  { appId, hooks: { observations } }: RecordContext,
  { kind, className }: MatchingWrite,
  matching: MatchingRecords,
  took: { readonly ms: number; readonly rows: number },
): void {
  if (!observations?.isObserved('query') || took.ms < observations.slowQueryMs) return;
  const shape = () => ({ where: matching.shape(), order: [] });
  observations.observe({ kind: 'query', system: appId, table: className, operation: kind, ...took, isTimedOut: false, shape });
}

/** Yields the ids in groups. The versions of the next group are read while one is written. */
async function* groupsOf(ids: SortedIds, size: number, matching: MatchingRecords): AsyncGenerator<Group> {
  const next = async (atMost: number): Promise<Group> => {
    const group = await ids.peek(atMost);
    ids.take(group.length);
    const versions = matching.versionsOf(group);
    // Awaited when the group is written.
    versions.catch(() => {});
    return { ids: group, versions };
  };
  // The first one alone: if it adds fields, the others are planned with them.
  let group = await next(1);
  while (group.ids.length > 0) {
    const following = await next(size);
    yield group;
    group = following;
  }
}

/** Refuses an update that no record could take. Rules of a table judge by the record, so their refusals are outcomes. */
async function checkBody(context: RecordContext, { kind, className, body }: MatchingWrite): Promise<void> {
  const { hooks, store } = context;
  if (kind === 'delete' || hooks.rules.has(className) || !store.schema().tables.has(className)) return;
  await checkWrites(context, [{ kind, className, objectId: 'any', body }]);
}

/** @throws otherCount (409) */
function refuseOther(matched: number, expected = matched): void {
  if (matched === expected) return;
  const error = serviceError('otherCount', matched, expected);
  error.details = { matched };
  throw error;
}

function groupSize({ hooks }: RecordContext, { className, body }: MatchingWrite): number {
  const records = hooks.rules.has(className) ? GROUP_RULED_RECORDS : GROUP_RECORDS;
  return Math.max(1, Math.min(records, Math.floor(GROUP_BYTES / maxJsonBytes(body))));
}

/** Adds to a passing fault how far the write came. */
async function describingProgress(outcomes: Outcomes, kind: MatchingWrite['kind'], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ServiceError && isPassing(error))
      error.details = { matched: outcomes.matched, [writtenName(kind)]: outcomes.written };
    throw error;
  }
}

/** Returns the name under which an answer counts the records that were written. */
export const writtenName = (kind: MatchingWrite['kind']): 'updated' | 'deleted' => (kind === 'update' ? 'updated' : 'deleted');
