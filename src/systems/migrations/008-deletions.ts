import { deletionsOf } from '../../access/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import { fieldOf, type Schema, type TableSchema } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Store, WritePlan } from '../../storage/port.ts';
import { nothing, type SystemMigration } from './migration.ts';

const number = 8;

/**
 * Timeline rows of deletions from before they copied the ACL of the record (adr/0016) get one that grants nothing: hidden data stays hidden.
 * Other rows cannot tell whether a record was open, since a write without a timeline row may have set its ACL.
 */
export const deletions: SystemMigration = { number, what: 'who may read of records that were deleted', prepare };

/** Rows that are read, and written in one commit: few enough that requests of other systems get their turn. */
const PAGE_SIZE = 1_000;
/** An ACL without entries would grant everybody access. */
const CLOSED_ACL = JSON.stringify({ '*': {} });

async function prepare(store: Store): Promise<() => WritePlan> {
  for (let after: number | null = 0; after !== null; ) after = await closePage(store, after);
  return () => nothing;
}

/**
 * Closes the deletions of one page of rows. @param after a place in the order of creation @returns the place of the last row; `null` if none is left
 */
async function closePage(store: Store, after: number): Promise<number | null> {
  const table = openTimeline(store.schema());
  if (!table) return null;
  const fields = ['objectId', 'event', 'ACL'].map((name) => [name, fieldOf(table, name)] as const);
  const rows = await store.raw.rows({ ...table, fields: new Map(fields) }, after, PAGE_SIZE);
  const ids = rows.flatMap(([, objectId, event, acl]) => (event === 'delete' && acl === null ? [objectId as string] : []));
  if (ids.length > 0) await store.write({ plan: (schema) => closing(schema, ids) });
  return rows.at(-1)?.[0] ?? null;
}

/**
 * Returns `null` if the rows do not record deletions, or if another process has completed this migration: it may already write deletions of open
 * records.
 */
function openTimeline(schema: Schema): TableSchema | null {
  return (schema.templateVersion ?? 0) < number ? deletionsOf(schema) : null;
}

function closing(schema: Schema, ids: readonly string[]): WritePlan {
  const table = openTimeline(schema);
  if (!table) return nothing;
  const open: Filter = { kind: 'not', item: { kind: 'exists', ref: { field: fieldOf(table, 'ACL'), path: [] } } };
  const filter: Filter = { kind: 'and', items: [{ kind: 'in', field: fieldOf(table, 'objectId'), values: ids }, open] };
  return {
    changes: [],
    mutations: [{ kind: 'updateAll', table, filter, assignments: assignmentsOf(table, { ACL: CLOSED_ACL }) }],
  };
}
