import { Contention } from '../../kernel/contention.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Query } from '../../query/model/selection.ts';
import type { Schema } from '../../schema/model.ts';
import type { Migration } from '../../storage/migrations.ts';
import { SchemaChanged, type Store, type WritePlan } from '../../storage/port.ts';
import { rowsOf } from '../../storage/text-values.ts';

/** A migration of the service's own tables and their rows. One commit, executed once, sets its number. */
export interface SystemMigration extends Migration {
  /**
   * Reads what the migration depends on, and does what is too much for one commit: in repeatable parts, while other processes may work on the
   * system.
   * @returns a pure function that plans the final write under a schema
   */
  prepare(store: Store): Promise<(schema: Schema) => WritePlan>;
}

/** A write that does nothing. */
export const nothing: WritePlan = { changes: [], mutations: [] };

/**
 * Returns records of a table in the order of creation, in wire form; none if the table does not exist.
 * @param names fields; those that the table does not have are ignored
 * @param limit maximum number of records
 */
export async function readRecords(
  store: Store,
  className: string,
  names: readonly string[],
  limit = Number.POSITIVE_INFINITY,
): Promise<JsonObject[]> {
  const contention = new Contention();
  for (;;)
    try {
      return await readOnce(store, className, names, limit);
    } catch (error) {
      // Another process is a migration ahead.
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
  return rowsOf<JsonObject>(await store.reader.find(query, 'values'));
}
