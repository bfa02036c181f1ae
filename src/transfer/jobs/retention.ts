import { DAY_MS } from '../../kernel/time.ts';
import type { Filter } from '../../query/model/filter.ts';
import { readRows } from '../../records/index.ts';
import { fieldOf, type TableSchema, tableOf } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { importTable } from '../import/write/progress.ts';
import { dropRejects } from './job-rows.ts';

/** Retention of finished imports: jobs over HTTP, and imports by command, which `--continue` needs. */
export const RETENTION_MS = { request: 7 * DAY_MS, command: 90 * DAY_MS } as const;
const BATCH_SIZE = 100;

/** Deletes data of imports that ended longer ago than `RETENTION_MS`. @param shouldStop polled between batches */
export async function deleteOldImports(store: Store, now: number, shouldStop: () => boolean): Promise<void> {
  for (const kind of ['request', 'command'] as const)
    for (let last = BATCH_SIZE; last === BATCH_SIZE && !shouldStop(); ) {
      const filter = (table: TableSchema): Filter => ({
        kind: 'and',
        items: [
          { kind: 'compare', field: fieldOf(table, 'kind'), op: 'eq', value: kind },
          { kind: 'compare', field: fieldOf(table, 'updatedAt'), op: 'lt', value: now - RETENTION_MS[kind] },
          {
            kind: 'not',
            item: { kind: 'in', field: fieldOf(table, 'state'), values: kind === 'request' ? ['waiting', 'running'] : [] },
          },
        ],
      });
      const old = await readRows<{ objectId: string }>(store, {
        className: importTable,
        fields: ['objectId'],
        filter,
        limit: BATCH_SIZE,
      });
      last = old.length;
      if (last === 0) break;
      for (const { objectId } of kind === 'request' ? old : []) await dropRejects(store, objectId);
      await store.write({
        plan(schema) {
          const table = tableOf(schema, importTable);
          const ids = old.map(({ objectId }) => objectId);
          return {
            changes: [],
            mutations: [{ kind: 'deleteAll', table, filter: { kind: 'in', field: fieldOf(table, 'objectId'), values: ids } }],
          };
        },
      });
    }
}
