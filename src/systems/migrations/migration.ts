import { Contention } from '../../kernel/contention.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Query } from '../../query/model/selection.ts';
import type { Schema } from '../../schema/model.ts';
import type { Migration } from '../../storage/migrations.ts';
import { SchemaChanged, type Store, type WritePlan } from '../../storage/port.ts';
import { rowsOf } from '../../storage/text-values.ts';

/** A step of what every system has: the service's own tables and what stands in them. One commit, carried out once, sets its number. */
export interface SystemMigration extends Migration {
  /**
   * Reads what the step depends on, and does what is too much for one commit: in parts, each of which may be done again, also while other
   * processes work on the system.
   * @returns what to do under a schema. Pure
   */
  prepare(store: Store): Promise<(schema: Schema) => WritePlan>;
}

/** A write that does nothing. */
export const nothing: WritePlan = { changes: [], mutations: [] };

/**
 * Records of a table in the order of their creation, in wire form; none where there is no such table.
 * @param names fields; those that the table has not are passed over
 * @param atMost how many records
 */
export async function readRecords(
  store: Store,
  className: string,
  names: readonly string[],
  atMost = Number.POSITIVE_INFINITY,
): Promise<JsonObject[]> {
  const contention = new Contention();
  for (;;)
    try {
      return await readOnce(store, className, names, atMost);
    } catch (error) {
      // Another process is a step ahead.
      if (!(error instanceof SchemaChanged) || contention.isOver) throw error;
      await contention.next();
      await store.whenCurrent();
    }
}

async function readOnce(store: Store, className: string, names: readonly string[], limit: number): Promise<JsonObject[]> {
  const table = store.schema().tables.get(className);
  if (!table) return [];
  const query: Query = {
    table,
    fields: names.flatMap((name) => table.fields.get(name) ?? []),
    filter: { kind: 'always' },
    includes: [],
    order: [],
    skip: 0,
    limit,
    count: false,
    withScore: false,
  };
  return rowsOf<JsonObject>(await store.reader.find(query, true));
}
