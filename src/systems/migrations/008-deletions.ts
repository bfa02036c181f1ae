import { deletionsOf } from '../../access/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import { fieldOf, type Schema, type TableSchema } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Store, WritePlan } from '../../storage/port.ts';
import { nothing, type SystemMigration } from './migration.ts';

const number = 8;

/**
 * Rows of deletions from before they took over the ACL of the record (docs/adr/0016) get one that allows nobody: what was hidden stays hidden.
 * The other rows of a record do not tell whether it was open, for its ACL may have been set by a write that left none.
 */
export const deletions: SystemMigration = { number, what: 'who may read of records that were deleted', prepare };

/** Rows that are read, and written in one commit: few enough that the requests of other systems have their turn. */
const PAGE_SIZE = 1_000;
/** An ACL without entries would allow everybody. */
const nobody = JSON.stringify({ '*': {} });

async function prepare(store: Store): Promise<() => WritePlan> {
  for (let after: number | null = 0; after !== null; ) after = await closePage(store, after);
  return () => nothing;
}

/** Closes the deletions among the first rows after a place in the order of creation. @returns the place of the last row; `null` where none is left */
async function closePage(store: Store, after: number): Promise<number | null> {
  const table = openTimeline(store.schema());
  if (!table) return null;
  const fields = ['objectId', 'event', 'ACL'].map((name) => [name, fieldOf(table, name)] as const);
  const rows = await store.raw.rows({ ...table, fields: new Map(fields) }, after, PAGE_SIZE);
  const ids = rows.flatMap(([, objectId, event, acl]) => (event === 'delete' && acl === null ? [objectId as string] : []));
  if (ids.length > 0) await store.write({ plan: (schema) => closing(schema, ids) });
  return rows.at(-1)?.[0] ?? null;
}

/** `null` where the rows tell of no deletion, or another process has done all: by now it may note deletions of open records. */
function openTimeline(schema: Schema): TableSchema | null {
  return (schema.templateVersion ?? 0) < number ? deletionsOf(schema) : null;
}

function closing(schema: Schema, ids: readonly string[]): WritePlan {
  const table = openTimeline(schema);
  if (!table) return nothing;
  const open: Filter = { kind: 'not', item: { kind: 'exists', ref: { field: fieldOf(table, 'ACL'), path: [] } } };
  const filter: Filter = { kind: 'and', items: [{ kind: 'in', field: fieldOf(table, 'objectId'), values: ids }, open] };
  return { changes: [], mutations: [{ kind: 'updateAll', table, filter, assignments: assignmentsOf(table, { ACL: nobody }) }] };
}
