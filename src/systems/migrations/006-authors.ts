import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { applyChange, type SchemaChange } from '../../schema/change.ts';
import { fieldOf, type Schema, tableOf } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Mutation, Store, WritePlan } from '../../storage/port.ts';
import { nothing, readRecords, type SystemMigration } from './migration.ts';

/**
 * Systems from before triggers acted with the rights of their authors get the hidden field of the author (adr/0015). The author of an existing
 * definition is the user who changed it last, otherwise the one who created it: a definition that a session changed must not have the master's
 * rights. Jobs in the queue get the field of their chain.
 */
export const authors: SystemMigration = { number: 6, what: 'the authors of triggers', prepare };

const className = '_Trigger';
const name = '_author';

async function prepare(store: Store): Promise<(schema: Schema) => WritePlan> {
  const ids = new Map<string, string[]>();
  for (const row of await readRecords(store, className, ['objectId', 'createdBy', 'updatedBy'])) {
    const author = userIn(row, 'updatedBy') ?? userIn(row, 'createdBy');
    if (author !== null) ids.set(author, [...(ids.get(author) ?? []), row.objectId as string]);
  }
  return (schema) => plan(schema, ids);
}

/** Returns the objectId of a user; `null` for the master. */
function userIn(row: JsonObject, field: string): string | null {
  const pointer = row[field] ?? null;
  const objectId = isJsonObject(pointer) ? pointer.objectId : null;
  return typeof objectId === 'string' && objectId !== 'master' ? objectId : null;
}

function plan(schema: Schema, ids: ReadonlyMap<string, readonly string[]>): WritePlan {
  const known = schema.tables.get(className);
  if (!known) return nothing;
  // An existing field of this name was not written by the service.
  const changes: SchemaChange[] = known.fields.has(name) ? [{ kind: 'dropField', className, name }] : [];
  changes.push({ kind: 'addField', className, name, type: 'String' });
  const queue = schema.tables.get('_TriggerQueue');
  if (queue && !queue.fields.has('chain'))
    changes.push({ kind: 'addField', className: queue.className, name: 'chain', type: 'String' });
  const table = tableOf(changes.reduce(applyChange, schema), className);
  const mutations = [...ids].map(
    ([author, values]): Mutation => ({
      kind: 'updateAll',
      table,
      filter: { kind: 'in', field: fieldOf(table, 'objectId'), values },
      assignments: assignmentsOf(table, { [name]: author }),
    }),
  );
  return { changes, mutations };
}
