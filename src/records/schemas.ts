import {
  grantFor,
  mayKnowTable,
  type Principal,
  requireKey,
  requireSchemaChange,
  requireSchemaRead,
  schemaViewFor,
} from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import type { JsonObject } from '../kernel/json.ts';
import { applyChanges } from '../schema/change.ts';
import { definedClass, planTable, planTableChange } from '../schema/definition.ts';
import { describeTable, type FieldLabels, type SchemaRecord } from '../schema/describe.ts';
import type { Schema, TableSchema } from '../schema/model.ts';
import { isHidden, isSystemTable } from '../schema/system-tables.ts';
import type { RecordContext } from './context/context.ts';
import { readLabels } from './read/labels.ts';
import { readDefinitions, switchOffDefinitions } from './read/trigger-definitions.ts';
import { type RecordWrite, type SchemaPlan, writeTogether } from './write/batch-write.ts';

/**
 * All tables' schema records. SPEC "Schemas".
 * @param withDictionary whether fields carry their labels
 * @throws masterKeyRequired (403)
 */
export async function listSchemas({ store, principal }: RecordContext, withDictionary: boolean): Promise<SchemaRecord[]> {
  requireSchemaRead(principal);
  const labels = withDictionary ? await readLabels(store) : undefined;
  return [...store.schema().tables.values()]
    .filter((table) => mayKnowTable(principal, table))
    .map((table) => describeFor(principal, table, labels?.get(table.className)));
}

/**
 * One table's schema record, with its triggers. SPEC "Schemas".
 * @throws masterKeyRequired (403), classMissing (103)
 */
export async function getSchema(
  { store, principal }: RecordContext,
  className: string,
  withDictionary: boolean,
): Promise<SchemaRecord> {
  requireSchemaRead(principal);
  const schema = store.schema();
  const table = schema.tables.get(className);
  if (!table || !mayKnowTable(principal, table)) return fail('classMissing', className);
  const labels = withDictionary ? await readLabels(store, className) : undefined;
  const described = describeFor(principal, table, labels?.get(className));
  const definitions = schema.tables.get('_Trigger');
  if (!definitions) return { ...described, triggers: [] };
  const grant = grantFor(principal, 'find', definitions, schema);
  return grant ? { ...described, triggers: await readDefinitions(store, className, grant) } : described;
}

/** A table as a caller may know it: without the fields that are hidden from him, whatever he may do with its records. */
const describeFor = (principal: Principal, table: TableSchema, labels: FieldLabels | undefined): SchemaRecord =>
  describeTable(table, labels, schemaViewFor(principal, table));

/**
 * Makes a table. CONTRACT "Records", schemas.
 * @param className the path's; the body's `className` counts where the path has none
 * @param alongside records of the same commit, such as those of labels
 * @returns the schema record
 * @throws masterKeyRequired (403), missingClassName (135), invalidClassName (103) for a hidden table, and the errors of `planTable`;
 *   what the records throw
 */
export async function createSchema(
  context: RecordContext,
  className: string | undefined,
  body: JsonObject,
  alongside?: readonly RecordWrite[],
): Promise<SchemaRecord> {
  requireSchemaChange(context.principal);
  const name = definedClass(className, body);
  if (isHidden(name)) fail('invalidClassName', name);
  return changeSchema(context, name, (schema) => planTable(schema, name, body), alongside);
}

/**
 * Changes a table: adds and deletes fields, sets permissions, timeline and indexes. SPEC "Schemas: Add a field"; CONTRACT "Records", schemas.
 * @param body or what makes it of the table as the change meets it; pure
 * @param alongside as of `createSchema`
 * @returns the schema record after the change
 * @throws masterKeyRequired (403), and the errors of `planTableChange`; what the records throw
 */
export async function updateSchema(
  context: RecordContext,
  className: string,
  body: JsonObject | ((table: TableSchema) => JsonObject),
  alongside?: readonly RecordWrite[],
): Promise<SchemaRecord> {
  requireSchemaChange(context.principal);
  const name = typeof body === 'function' ? className : definedClass(className, body);
  if (isHidden(name)) fail('classMissing', name);
  const bodyFor = (schema: Schema) =>
    typeof body === 'function' ? body(schema.tables.get(name) ?? fail('classMissing', name)) : body;
  return changeSchema(context, name, (schema) => planTableChange(schema, name, bodyFor(schema)), alongside);
}

/**
 * Drops an empty table, and switches its triggers off (docs/decisions.md "Triggers"): another one of its name has nothing to do with them.
 * CONTRACT "Records", schemas.
 * @throws masterKeyRequired (403), systemTable (119), classMissing (103), schemaOperation (255) where the table has records
 */
export async function deleteSchema({ store, principal }: RecordContext, className: string): Promise<void> {
  requireKey(principal);
  if (isSystemTable(className)) fail('systemTable');
  await store.write({
    plan(schema) {
      if (!schema.tables.has(className)) fail('classMissing', className);
      return { changes: [{ kind: 'dropTable', className }], mutations: switchOffDefinitions(schema, className) };
    },
  });
}

/** @param plan pure; called again where the schema changes before the write's turn comes */
async function changeSchema(
  context: RecordContext,
  className: string,
  plan: SchemaPlan,
  alongside: readonly RecordWrite[] = [],
): Promise<SchemaRecord> {
  let table: TableSchema | undefined;
  await writeTogether(context, alongside, (schema) => {
    const changes = plan(schema);
    table = applyChanges(schema, changes).tables.get(className);
    return changes;
  });
  return describeTable(table as unknown as TableSchema);
}
