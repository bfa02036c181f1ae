import { authorize, type Principal } from '../../access/index.ts';
import { newRowId } from '../../kernel/ids.ts';
import { guardedFilter } from '../../query/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import { readRows } from '../../records/index.ts';
import { fieldOf, type Schema, type TableSchema } from '../../schema/model.ts';
import type { Mutation, Store } from '../../storage/port.ts';
import { criteriaOf } from '../definition/index.ts';
import { snapshotFields } from '../matching/trigger-observer.ts';
import type { Trigger } from '../model/model.ts';
import { jobRow } from '../queue/index.ts';

/**
 * Returns the next records that a trigger runs for, in ascending order of objectId; none if the table does not exist.
 * @param principal the caller whose rights the trigger uses; records it may not read are skipped
 * @param after the objectId that they follow; empty: from the first
 * @throws permissionDenied (119) if the caller may not read the table; errors of the criteria if the schema no longer fits them; timeout, unavailable
 */
export async function nextRecords(
  store: Store,
  trigger: Trigger,
  principal: Principal,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await readRows<{ objectId: string }>(store, {
    className: trigger.table,
    fields: ['objectId'],
    filter: (table) =>
      guardedFilter(
        authorize(principal, 'find', table, store.schema()),
        filterOf(trigger, table, store.schema(), principal, after),
      ),
    orderBy: 'objectId',
    limit: limit,
  });
  return rows.map(({ objectId }) => objectId);
}

function filterOf(trigger: Trigger, table: TableSchema, schema: Schema, principal: Principal, after: string): Filter {
  const criteria = criteriaOf(trigger, table, schema, principal);
  if (after === '') return criteria;
  const following: Filter = { kind: 'compare', field: fieldOf(table, 'objectId'), op: 'gt', value: after };
  if (criteria.kind === 'always') return following;
  return { kind: 'and', items: [following, ...(criteria.kind === 'and' ? criteria.items : [criteria])] };
}

/** Returns mutations that queue the trigger for records; none if the table is gone when they are planned. */
export function writeRows(trigger: Trigger, ids: readonly string[], owner: string): (schema: Schema) => readonly Mutation[] {
  const at = Date.now();
  const rows = ids.map((id) => [id, newRowId(at)] as const);
  return (schema) => {
    const table = schema.tables.get(trigger.table);
    if (!table) return [];
    const fields = snapshotFields(table);
    return rows.flatMap(([id, rowId]) => {
      const row = {
        ...{ objectId: rowId, createdAt: at, kind: 'write', triggers: trigger.id, event: 'schedule', level: 1 },
        ...{ objectClass: table.className, objectIdValue: id, owner },
      };
      return jobRow(schema, row, { from: table, objectId: id, fields });
    });
  };
}
