import type { Filter } from '../../query/model/filter.ts';
import { readRows } from '../../records/index.ts';
import { fieldOf, type TableSchema, tableOf } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Store } from '../../storage/port.ts';
import { among } from './steps.ts';
import { queueTable } from './table.ts';

/** Rows per commit. Starts small, because rows of large records are long. */
const BATCH_SIZES = { initial: 10, max: 1_000 };
/** Duration of a commit, in milliseconds, beyond which the next one takes fewer rows. */
const SLOW_MS = 20;

/** Returns owners of queue rows other than the given processes; only some of them if there are many. @throws unavailable, timeout */
export async function otherOwners(store: Store, alive: ReadonlySet<string>): Promise<Set<string>> {
  const filter = (table: TableSchema): Filter => ({ kind: 'not', item: among(table, 'owner', alive) });
  const rows = await readRows<{ owner?: string }>(store, { className: queueTable, fields: ['owner'], filter, limit: 50 });
  return new Set(rows.map(({ owner = '' }) => owner));
}

/**
 * Transfers the jobs of ended processes to this process, in queue order and in small batches.
 * @param shouldStop called before each batch
 * @returns the number of jobs
 * @throws unavailable, timeout
 */
export async function takeOver(store: Store, owners: readonly string[], shouldStop: () => boolean): Promise<number> {
  const ownedByThem = (table: TableSchema): Filter => {
    const named = owners.filter((owner) => owner !== '');
    const items: Filter[] = [among(table, 'owner', named)];
    if (named.length < owners.length)
      items.push({ kind: 'not', item: { kind: 'exists', ref: { field: fieldOf(table, 'owner'), path: [] } } });
    return { kind: 'or', items };
  };
  let taken = 0;
  let batch = BATCH_SIZES.initial;
  while (!shouldStop()) {
    const query = { className: queueTable, fields: ['objectId'], filter: ownedByThem, limit: batch };
    const ids = (await readRows<{ objectId: string }>(store, query)).map(({ objectId }) => objectId);
    if (ids.length === 0) break;
    const began = performance.now();
    await store.write({
      plan(schema) {
        const table = tableOf(schema, queueTable);
        const filter: Filter = { kind: 'and', items: [among(table, 'objectId', ids), ownedByThem(table)] };
        const assignments = assignmentsOf(table, { owner: store.cluster.processId });
        return { changes: [], mutations: [{ kind: 'updateAll', table, filter, assignments }] };
      },
    });
    taken += ids.length;
    if (ids.length < batch) break;
    const isSlow = performance.now() - began > SLOW_MS;
    batch = isSlow ? Math.max(1, batch >> 2) : Math.min(BATCH_SIZES.max, batch * 4);
  }
  return taken;
}
