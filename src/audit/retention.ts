import { setTimeout as wait } from 'node:timers/promises';
import type { Filter } from '../query/filter.ts';
import { readRows } from '../records/index.ts';
import { fieldOf, type Schema, type TableSchema } from '../schema/model.ts';
import type { Store, WritePlan } from '../storage/port.ts';

const DAY = 86_400_000;
/** Records that one commit deletes: some milliseconds. */
const BATCH = 500;
/** Milliseconds between two of them, in which others have their turn. */
const PAUSE = 50;

/** What grows old: a table and the time by which a record of it does. */
interface Aging {
  readonly className: string;
  readonly field: 'createdAt' | 'expiresAt';
  /** Records with an earlier time are deleted, in milliseconds since 1970. */
  readonly before: number;
}

/**
 * Deletes what has grown old in one system, little by little: rows of the request log after so many days, and sessions that have expired.
 * @param days that rows of the request log are kept; 0: for ever
 * @param isEnough asked before each batch
 */
export async function deleteOld(store: Store, days: number, now: number, isEnough: () => boolean): Promise<void> {
  if (days > 0) await deleteBefore(store, { className: '_RequestLog', field: 'createdAt', before: now - days * DAY }, isEnough);
  await deleteBefore(store, { className: '_Session', field: 'expiresAt', before: now }, isEnough);
}

async function deleteBefore(store: Store, aging: Aging, isEnough: () => boolean): Promise<void> {
  while (!isEnough()) {
    const ids = await oldest(store, aging);
    if (ids.length > 0) await store.write({ plan: (schema) => planDeletion(schema, aging.className, ids) });
    if (ids.length < BATCH) return;
    await wait(PAUSE);
  }
}

/** Looked up by a read of its own, which leaves the event loop where it may be long; the deletion then goes by their ids. */
async function oldest(store: Store, { className, field: name, before }: Aging): Promise<string[]> {
  const rows = await readRows<{ objectId: string }>(store, {
    className,
    fields: ['objectId'],
    filter(table) {
      const field = table.fields.get(name);
      return field?.type === 'Date' ? { kind: 'compare', field, op: 'lt', value: before } : null;
    },
    orderBy: name,
    limit: BATCH,
  });
  return rows.map(({ objectId }) => objectId);
}

function planDeletion(schema: Schema, className: string, ids: readonly string[]): WritePlan {
  const table = schema.tables.get(className);
  return { changes: [], mutations: table ? [{ kind: 'deleteAll', table, filter: amongIds(table, ids) }] : [] };
}

function amongIds(table: TableSchema, values: readonly string[]): Filter {
  return { kind: 'in', field: fieldOf(table, 'objectId'), values };
}
