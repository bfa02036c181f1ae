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
 * The next records that a trigger runs for, by their objectIds in ascending order. A table that is gone has none.
 * @param principal with whose rights it acts: records that he may not read are none
 * @param after the objectId that they follow; empty: from the first
 * @throws permissionDenied (119) where he may not read the table; the errors of the criteria, where the schema no longer fits them; timeout, unavailable
 */
export async function chosenAfter(
  store: Store,
  trigger: Trigger,
  principal: Principal,
  after: string,
  atMost: number,
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
    limit: atMost,
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

/** The steps that queue the trigger for records; for none of them where it is gone by then. */
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
