import type { Filter } from '../../query/model/filter.ts';
import { readRows } from '../../records/index.ts';
import { fieldOf, type TableSchema, tableOf } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Store } from '../../storage/port.ts';
import { among } from './steps.ts';
import { queueTable } from './table.ts';

/** Rows that one commit takes over, at first and at the most: those of large records are long. */
const BATCH_SIZES = { first: 10, most: 1_000 };
/** Milliseconds of a commit beyond which the next one takes fewer rows over. */
const SLOW_MS = 20;

/** Owners of rows in the queue that are none of these; some of them where they are many. @throws unavailable, timeout */
export async function ownersBeside(store: Store, alive: ReadonlySet<string>): Promise<Set<string>> {
  const filter = (table: TableSchema): Filter => ({ kind: 'not', item: among(table, 'owner', alive) });
  const rows = await readRows<{ owner?: string }>(store, { className: queueTable, fields: ['owner'], filter, limit: 50 });
  return new Set(rows.map(({ owner = '' }) => owner));
}

/**
 * Makes the jobs of processes that are gone those of this process, in the order of the queue, little by little.
 * @param isEnough asked before each step
 * @returns how many
 * @throws unavailable, timeout
 */
export async function takeOver(store: Store, owners: readonly string[], isEnough: () => boolean): Promise<number> {
  const ofThese = (table: TableSchema): Filter => {
    const known = owners.filter((owner) => owner !== '');
    const items: Filter[] = [among(table, 'owner', known)];
    if (known.length < owners.length)
      items.push({ kind: 'not', item: { kind: 'exists', ref: { field: fieldOf(table, 'owner'), path: [] } } });
    return { kind: 'or', items };
  };
  let taken = 0;
  let batch = BATCH_SIZES.first;
  while (!isEnough()) {
    const query = { className: queueTable, fields: ['objectId'], filter: ofThese, limit: batch };
    const ids = (await readRows<{ objectId: string }>(store, query)).map(({ objectId }) => objectId);
    if (ids.length === 0) break;
    const began = performance.now();
    await store.write({
      plan(schema) {
        const table = tableOf(schema, queueTable);
        const filter: Filter = { kind: 'and', items: [among(table, 'objectId', ids), ofThese(table)] };
        const assignments = assignmentsOf(table, { owner: store.cluster.processId });
        return { changes: [], mutations: [{ kind: 'updateAll', table, filter, assignments }] };
      },
    });
    taken += ids.length;
    if (ids.length < batch) break;
    const isSlow = performance.now() - began > SLOW_MS;
    batch = isSlow ? Math.max(1, batch >> 2) : Math.min(BATCH_SIZES.most, batch * 4);
  }
  return taken;
}
