import { setTimeout as wait } from 'node:timers/promises';
import { KEPT_MS, keyTable } from '../idempotency/index.ts';
import { DAY_MS } from '../kernel/time.ts';
import type { Filter } from '../query/model/filter.ts';
import { readRows } from '../records/index.ts';
import { fieldOf, type Schema, type TableSchema } from '../schema/model.ts';
import type { Store, WritePlan } from '../storage/port.ts';

/** Records per read, and the maximum per commit. A commit of this size takes some milliseconds. */
const MAX_BATCH_SIZE = 500;
/** Rows may be of any length, so the first commit is small. The duration of each commit determines the size of the next. */
const MIN_BATCH_SIZE = 20;
const MAX_BATCH_GROWTH = 4;
/** Target duration of a commit, in milliseconds. */
const COMMIT_TARGET_MS = 100;
/** Pause between two commits, which lets other work run. */
const BATCH_INTERVAL_MS = 50;

/** Days that rows are kept; 0 means for ever. */
export interface RetentionDays {
  /** Of `_RequestLog`. */
  readonly requestLogDays: number;
  /** Of `_syslogTriggers`. */
  readonly triggerLogDays: number;
  /** Of `_Timeline`. */
  readonly timelineDays: number;
  /** Of `_AdminLog`. */
  readonly adminLogDays: number;
}

/**
 * Deletes old data of one system in small batches: rows of the logs and of the timeline past their retention, keys of repeated requests after a day,
 * and expired sessions.
 * @param shouldStop called before each commit
 * Reference: audit.md#retention.
 */
export async function deleteOld(store: Store, kept: RetentionDays, now: number, shouldStop: () => boolean): Promise<void> {
  const logs = [
    ['_RequestLog', kept.requestLogDays],
    ['_syslogTriggers', kept.triggerLogDays],
    ['_Timeline', kept.timelineDays],
    ['_AdminLog', kept.adminLogDays],
  ] as const;
  for (const [className, days] of logs)
    if (days > 0) await deleteInBatches(store, className, () => oldest(store, className, now - days * DAY_MS), shouldStop);
  await deleteInBatches(store, keyTable, () => oldest(store, keyTable, now - KEPT_MS), shouldStop);
  await deleteExpired(store, '_Session', now, shouldStop);
}

/**
 * Deletes records whose `expiresAt` has passed, in small batches.
 * @param now milliseconds since 1970
 * @param shouldStop called before each commit
 */
export function deleteExpired(store: Store, className: string, now: number, shouldStop: () => boolean): Promise<void> {
  return deleteInBatches(store, className, () => expired(store, className, now), shouldStop);
}

/** Records to delete, and whether there may be more of them. */
interface Found {
  readonly ids: readonly string[];
  readonly more: boolean;
  /** A condition that the commit checks again, for records that may change after the read. Returns `null` if the table lacks the field. */
  readonly stillHolds?: (table: TableSchema) => Filter | null;
}

/** @param find reads separately, since a long read can leave the event loop; the deletion then goes by id */
async function deleteInBatches(
  store: Store,
  className: string,
  find: () => Promise<Found>,
  shouldStop: () => boolean,
): Promise<void> {
  let batchSize = MIN_BATCH_SIZE;
  while (!shouldStop()) {
    const found = await find();
    for (let at = 0; at < found.ids.length && !shouldStop(); ) {
      if (at > 0) await wait(BATCH_INTERVAL_MS);
      const ids = found.ids.slice(at, at + batchSize);
      const began = performance.now();
      await store.write({ plan: (schema) => planDeletion(schema, className, { ...found, ids }) });
      at += ids.length;
      batchSize = Math.floor(batchSize * Math.min(MAX_BATCH_GROWTH, COMMIT_TARGET_MS / (performance.now() - began)));
      batchSize = Math.max(MIN_BATCH_SIZE, Math.min(MAX_BATCH_SIZE, batchSize));
    }
    if (!found.more) return;
    await wait(BATCH_INTERVAL_MS);
  }
}

/**
 * Finds rows of a log that were created before a time. Rows are stored in creation order, so reading the first ones suffices and a table without old
 * rows is not scanned. Clocks of processes differ, so the order is approximate: if all rows of a page are younger, the older ones after it wait.
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

/** Finds records that expired before a time. */
async function expired(store: Store, className: string, before: number): Promise<Found> {
  const stillHolds = (table: TableSchema): Filter | null => {
    const field = table.fields.get('expiresAt');
    return field?.type === 'Date' ? { kind: 'compare', field, op: 'lt', value: before } : null;
  };
  const rows = await readRows<{ objectId: string }>(store, {
    className,
    fields: ['objectId'],
    filter: stillHolds,
    orderBy: 'expiresAt',
    limit: MAX_BATCH_SIZE,
  });
  return { ids: rows.map(({ objectId }) => objectId), more: rows.length === MAX_BATCH_SIZE, stillHolds };
}

function planDeletion(schema: Schema, className: string, { ids, stillHolds }: Found): WritePlan {
  const table = schema.tables.get(className);
  const filter = table && deletable(table, ids, stillHolds);
  return { changes: [], mutations: filter ? [{ kind: 'deleteAll', table, filter }] : [] };
}

function deletable(table: TableSchema, values: readonly string[], stillHolds: Found['stillHolds']): Filter | null {
  const among: Filter = { kind: 'in', field: fieldOf(table, 'objectId'), values };
  if (!stillHolds) return among;
  const holds = stillHolds(table);
  return holds && { kind: 'and', items: [among, holds] };
}
