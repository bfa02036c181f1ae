import { countRows, readRows } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { among, is, isDue } from './steps.ts';
import { queueTable, retryableKinds } from './table.ts';

/** Rows that are read to count them, few enough for the event loop. Longer queues are counted by the database. */
const MAX_ROWS = 200;

const jobKinds = ['write', 'schedule', ...retryableKinds] as const;

/** Jobs of one kind that this process has to do. */
export interface PendingJobs {
  readonly kind: (typeof jobKinds)[number];
  /** Those that may run now, or run. */
  readonly waiting: number;
  /** Those that wait for the time of their next attempt. */
  readonly delayed: number;
}

/** The queue of a system, as far as it is this process's. */
export interface PendingQueue {
  readonly jobs: readonly PendingJobs[];
  /** Since when the oldest job has waited that may run now, in milliseconds since 1970; `null`: there is none. */
  readonly oldest: number | null;
}

interface Row {
  readonly kind?: (typeof jobKinds)[number];
  readonly createdAt?: string;
  readonly dueAt?: { readonly iso: string };
}

/**
 * Counts the jobs of a system that this process owns: each job has one owner, so that the counts of several processes can be added.
 * @throws unavailable, timeout
 */
export async function pendingQueue(store: Store, now: number): Promise<PendingQueue> {
  const owned = (table: TableSchema) => [among(table, 'kind', [...jobKinds]), is(table, 'owner', store.cluster.processId)];
  const rows = await readRows<Row>(store, {
    className: queueTable,
    fields: ['kind', 'createdAt', 'dueAt'],
    filter: (table) => ({ kind: 'and', items: owned(table) }),
    limit: MAX_ROWS,
  });
  const waiting = rows.filter(({ dueAt }) => !dueAt || Date.parse(dueAt.iso) <= now);
  const since = waiting.map(({ createdAt, dueAt }) => Date.parse(dueAt?.iso ?? createdAt ?? ''));
  const oldest = since.length > 0 ? Math.min(...since) : null;
  if (rows.length < MAX_ROWS) {
    const count = (of: readonly Row[], kind: string) => of.filter((row) => row.kind === kind).length;
    return {
      oldest,
      jobs: jobKinds.map((kind) => ({ kind, waiting: count(waiting, kind), delayed: count(rows, kind) - count(waiting, kind) })),
    };
  }
  const counted = jobKinds.map(async (kind) => {
    const all = (table: TableSchema) => [...owned(table), is(table, 'kind', kind)];
    const [total, due] = await Promise.all([
      countRows(store, { className: queueTable, filter: (table) => ({ kind: 'and', items: all(table) }) }),
      countRows(store, {
        className: queueTable,
        filter: (table) => ({ kind: 'and', items: [...all(table), isDue(table, now)] }),
      }),
    ]);
    return { kind, waiting: due, delayed: Math.max(0, total - due) };
  });
  return { oldest, jobs: await Promise.all(counted) };
}
