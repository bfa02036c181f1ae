import { setTimeout as wait } from 'node:timers/promises';
import { DAY_MS } from '../kernel/time.ts';
import type { Filter } from '../query/model/filter.ts';
import { readRows } from '../records/index.ts';
import { fieldOf, type Schema, type TableSchema } from '../schema/model.ts';
import type { Store, WritePlan } from '../storage/port.ts';

/** Records that are found at once, and that one commit deletes at the most: some milliseconds. */
const MAX_BATCH_SIZE = 500;
/** Rows may be of any length: the first commit deletes few, and the time that one took says how many the next one may. */
const MIN_BATCH_SIZE = 20;
const MAX_BATCH_GROWTH = 4;
/** Milliseconds that a commit should take. */
const COMMIT_TARGET_MS = 100;
/** Milliseconds between two of them, in which others have their turn. */
const PAUSE_MS = 50;

/** Days that rows are kept; 0: for ever. */
export interface KeptDays {
  /** Of `_RequestLog`. */
  readonly requestLogDays: number;
  /** Of `_syslogTriggers`. */
  readonly triggerLogDays: number;
  /** Of `_Timeline`. */
  readonly timelineDays: number;
}

/**
 * Deletes what has grown old in one system, little by little: rows of logs and of the timeline after so many days, and sessions that have
 * expired (docs/decisions.md "Request log", "Triggers").
 * @param isEnough asked before each commit
 */
export async function deleteOld(store: Store, kept: KeptDays, now: number, isEnough: () => boolean): Promise<void> {
  const logs = [
    ['_RequestLog', kept.requestLogDays],
    ['_syslogTriggers', kept.triggerLogDays],
    ['_Timeline', kept.timelineDays],
  ] as const;
  for (const [className, days] of logs)
    if (days > 0) await deleteInBatches(store, className, () => oldest(store, className, now - days * DAY_MS), isEnough);
  await deleteExpired(store, '_Session', now, isEnough);
}

/**
 * Deletes records whose `expiresAt` is over, little by little.
 * @param now milliseconds since 1970
 * @param isEnough asked before each commit
 */
export function deleteExpired(store: Store, className: string, now: number, isEnough: () => boolean): Promise<void> {
  return deleteInBatches(store, className, () => expired(store, className, now), isEnough);
}

/** Records to delete, and whether there may be more of them. */
interface Found {
  readonly ids: readonly string[];
  readonly more: boolean;
  /** What has to hold of them in the commit too, where it may change after the read; `null` where the table has not what it speaks of. */
  readonly still?: (table: TableSchema) => Filter | null;
}

/** @param find is a read of its own, which leaves the event loop where it may be long; the deletion then goes by ids */
async function deleteInBatches(
  store: Store,
  className: string,
  find: () => Promise<Found>,
  isEnough: () => boolean,
): Promise<void> {
  let most = MIN_BATCH_SIZE;
  while (!isEnough()) {
    const found = await find();
    for (let at = 0; at < found.ids.length && !isEnough(); ) {
      if (at > 0) await wait(PAUSE_MS);
      const ids = found.ids.slice(at, at + most);
      const began = performance.now();
      await store.write({ plan: (schema) => planDeletion(schema, className, { ...found, ids }) });
      at += ids.length;
      most = Math.floor(most * Math.min(MAX_BATCH_GROWTH, COMMIT_TARGET_MS / (performance.now() - began)));
      most = Math.max(MIN_BATCH_SIZE, Math.min(MAX_BATCH_SIZE, most));
    }
    if (!found.more) return;
    await wait(PAUSE_MS);
  }
}

/**
 * Rows of a log that were created earlier. They lie in the order of creation, so the first few tell: nobody looks through a table of which
 * nothing is old. Processes' clocks differ, so some of these may be younger than those that follow; where all are, they wait.
 */
async function oldest(store: Store, className: string, before: number): Promise<Found> {
  const rows = await readRows<{ objectId: string; createdAt: string }>(store, {
    className,
    fields: ['objectId', 'createdAt'],
    filter: () => ({ kind: 'always' }),
    limit: MAX_BATCH_SIZE,
  });
  const ids = rows.filter(({ createdAt }) => Date.parse(createdAt) < before).map(({ objectId }) => objectId);
  return { ids, more: ids.length > 0 && rows.length === MAX_BATCH_SIZE };
}

/** Records that ended before. */
async function expired(store: Store, className: string, before: number): Promise<Found> {
  const still = (table: TableSchema): Filter | null => {
    const field = table.fields.get('expiresAt');
    return field?.type === 'Date' ? { kind: 'compare', field, op: 'lt', value: before } : null;
  };
  const rows = await readRows<{ objectId: string }>(store, {
    className,
    fields: ['objectId'],
    filter: still,
    orderBy: 'expiresAt',
    limit: MAX_BATCH_SIZE,
  });
  return { ids: rows.map(({ objectId }) => objectId), more: rows.length === MAX_BATCH_SIZE, still };
}

function planDeletion(schema: Schema, className: string, { ids, still }: Found): WritePlan {
  const table = schema.tables.get(className);
  const filter = table && deletable(table, ids, still);
  return { changes: [], mutations: filter ? [{ kind: 'deleteAll', table, filter }] : [] };
}

function deletable(table: TableSchema, values: readonly string[], still: Found['still']): Filter | null {
  const among: Filter = { kind: 'in', field: fieldOf(table, 'objectId'), values };
  if (!still) return among;
  const holds = still(table);
  return holds && { kind: 'and', items: [among, holds] };
}
