import { MINUTE_MS } from '../../kernel/time.ts';
import type { Filter } from '../../query/model/filter.ts';
import { readRows } from '../../records/index.ts';
import { fieldOf, type TableSchema, tableOf } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { among, is } from './steps.ts';
import { queueTable } from './table.ts';

/** Minimum age of an orphan: a younger row may be read before the row that refers to it. */
const MIN_AGE_MS = MINUTE_MS;
/** Rows per call. */
const MAX_ROWS = 1_000;

/**
 * Removes `before` snapshots that no row refers to. The service leaves none; other writers of the table may.
 * @returns the number of removed rows
 * @throws unavailable, timeout
 */
export async function removeOrphanRows(store: Store, now: number): Promise<number> {
  const old = (table: TableSchema): Filter => ({
    kind: 'and',
    items: [
      is(table, 'kind', 'before'),
      { kind: 'compare', field: fieldOf(table, 'createdAt'), op: 'lt', value: now - MIN_AGE_MS },
    ],
  });
  const rows = await readRows<{ objectId: string }>(store, {
    className: queueTable,
    fields: ['objectId'],
    filter: old,
    limit: MAX_ROWS,
  });
  if (rows.length === 0) return 0;
  const ids = rows.map(({ objectId }) => objectId);
  const filter = (table: TableSchema) => among(table, 'before', ids);
  const naming = await readRows<{ before: string }>(store, { className: queueTable, fields: ['before'], filter });
  const named = new Set(naming.map(({ before }) => before));
  const orphans = ids.filter((id) => !named.has(id));
  if (orphans.length === 0) return 0;
  await store.write({
    plan(schema) {
      const table = tableOf(schema, queueTable);
      return { changes: [], mutations: [{ kind: 'deleteAll', table, filter: among(table, 'objectId', orphans) }] };
    },
  });
  return orphans.length;
}
