import { readRows } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { type Job, jobOf, type QueueRow, recordKey } from './job.ts';
import { among } from './steps.ts';
import { queueTable } from './table.ts';

/** Rows per read. */
const MAX_ROWS = 1_000;
const fields = ['objectId', 'createdAt', 'kind', 'objectClass', 'objectIdValue', 'triggers', 'owner'];

/** Jobs that must wait for other processes. */
export interface OtherProcessJobs {
  /** Ids of the jobs that have to wait. */
  readonly foreign: ReadonlySet<string>;
  /** Their records, by `recordKey`. */
  readonly blocked: ReadonlySet<string>;
}

/**
 * Finds jobs that have to wait because another process owns an earlier job of the same record: writes of one record are processed in order, whatever
 * process accepted them.
 * Reference: triggers.md#order-and-delivery.
 * @param jobs of this process
 * @throws unavailable, timeout
 */
export async function otherJobsBefore(store: Store, jobs: readonly Job[]): Promise<OtherProcessJobs> {
  const waiting = new Map<string, Job[]>();
  for (const job of jobs) waiting.set(job.objectId, [...(waiting.get(job.objectId) ?? []), job]);
  waiting.delete('');
  const foreign = new Set<string>();
  const blocked = new Set<string>();
  // One record with many rows may fill a page; records that the page does not contain are read again.
  while (waiting.size > 0) {
    const rows = await rowsOf(store, [...waiting.keys()]);
    const seen = new Map<string, readonly Job[]>(Map.groupBy(rows.map(jobOf), ({ objectId }) => objectId));
    const isAll = rows.length < MAX_ROWS;
    for (const [objectId, own] of [...waiting]) {
      const inQueue = seen.get(objectId);
      if (!inQueue && !isAll) continue;
      waiting.delete(objectId);
      for (const job of waitingAmong(own, inQueue ?? [], store.cluster.processId, isAll)) {
        foreign.add(job.id);
        blocked.add(recordKey(job));
      }
    }
  }
  return { foreign, blocked };
}

/** @param inQueue the first rows of a record in queue order. @param isAll whether these are all */
function waitingAmong(own: readonly Job[], inQueue: readonly Job[], owner: string, isAll: boolean): Job[] {
  const free = new Set<string>();
  const taken = new Set<string>();
  for (const row of inQueue) {
    const key = recordKey(row);
    if (row.kind !== 'write') continue;
    if (row.owner !== owner) taken.add(key);
    else if (!taken.has(key)) free.add(row.id);
  }
  // A job that was deleted meanwhile is detected at its commit; jobs beyond this page are checked at the next poll.
  return own.filter((job) => job.kind === 'write' && !free.has(job.id) && (taken.has(recordKey(job)) || !isAll));
}

function rowsOf(store: Store, ids: readonly string[]): Promise<QueueRow[]> {
  const filter = (table: Parameters<typeof among>[0]) => among(table, 'objectIdValue', ids);
  return readRows<QueueRow>(store, { className: queueTable, fields, filter, limit: MAX_ROWS });
}
