import {
  grantFor,
  listedTables,
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
import { takeRenames } from '../schema/definition-renames.ts';
import { takeRetypes } from '../schema/definition-retypes.ts';
import { describeTable, type FieldLabels, type SchemaRecord } from '../schema/describe.ts';
import type { Schema, TableSchema } from '../schema/model.ts';
import { isHidden, isSealed, isSystemTable } from '../schema/system-tables.ts';
import type { RecordContext } from './context/context.ts';
import type { FollowedNames } from './context/name-holder.ts';
import { readLabels } from './read/labels.ts';
import { readDefinitions, switchOffDefinitions } from './read/trigger-definitions.ts';
import { withConvertedDefaults } from './renames/converted-defaults.ts';
import { followRenames } from './renames/rename-fields.ts';
import { definitionsNaming, retypedFields } from './renames/unchanged-definitions.ts';
import { type RecordWrite, type SchemaPlan, writeAtomically } from './write/batch-write.ts';
import { commitPlan } from './write/commit.ts';
import { retryWhenConditionFailed } from './write/exclusive.ts';
import { checkDefaults } from './write/field-options.ts';

/**
 * Returns the schema records of all tables that lists show. Reference: schemas.md#read-a-schema.
 * @param withDictionary whether fields carry their labels
 * @throws masterKeyRequired (403)
 */
export async function listSchemas({ store, principal }: RecordContext, withDictionary: boolean): Promise<SchemaRecord[]> {
  requireSchemaRead(principal);
  const labels = withDictionary ? await readLabels(store) : undefined;
  return listedTables(store.durableSchema(), principal).map((table) =>
    describeFor(principal, table, labels?.get(table.className)),
  );
}

/**
 * Returns one table's schema record, with its triggers. Reference: schemas.md#read-a-schema.
 * @throws masterKeyRequired (403), classMissing (103)
 */
export async function getSchema(
  { store, principal }: RecordContext,
  className: string,
  withDictionary: boolean,
): Promise<SchemaRecord> {
  requireSchemaRead(principal);
  const schema = store.durableSchema();
  const table = schema.tables.get(className);
  if (!table || !mayKnowTable(principal, table)) return fail('classMissing', className);
  const labels = withDictionary ? await readLabels(store, className) : undefined;
  const described = describeFor(principal, table, labels?.get(className));
  const definitions = schema.tables.get('_Trigger');
  if (!definitions) return { ...described, triggers: [] };
  const grant = grantFor(principal, 'find', definitions, schema);
  return grant ? { ...described, triggers: await readDefinitions(store, className, grant) } : described;
}

/** Describes a table as a caller may know it: without the fields hidden from it, whatever it may do with the records. */
const describeFor = (principal: Principal, table: TableSchema, labels: FieldLabels | undefined): SchemaRecord =>
  describeTable(table, labels, schemaViewFor(principal, table));

/**
 * Creates a table. Reference: schemas.md#create-a-table.
 * @param className of the path; if the path has none, the body's `className` counts
 * @param alongside records of the same commit, such as labels
 * @returns the schema record
 * @throws masterKeyRequired (403), missingClassName (135), invalidClassName (103) for a hidden table, and the errors of `planTable`;
 * errors of the records alongside
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
  if (isSealed(name)) fail('systemTable');
  return changeSchema(context, name, (schema) => planTable(schema, name, body), alongside);
}

/**
 * Changes a table: adds and deletes fields, sets permissions, timeline and indexes. Reference: schemas.md#change-a-table.
 * @param body the change, or a pure function that derives it from the table as of the commit
 * @param alongside as in `createSchema`
 * @returns the schema record after the change; after renames with `changed`, what else names the fields; after changes of types with `notFollowed`,
 *   what names the fields and stays as it is
 * @throws masterKeyRequired (403), and the errors of `planTableChange`; errors of the records alongside
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
  if (isSealed(name)) fail('systemTable');
  const bodyFor = (schema: Schema) =>
    typeof body === 'function' ? body(schema.tables.get(name) ?? fail('classMissing', name)) : body;
  const plan = (schema: Schema) => withConvertedDefaults(schema, planTableChange(schema, name, bodyFor(schema)));
  if (typeof body === 'function') return changeSchema(context, name, plan, alongside);
  const { renames } = takeRenames(body);
  if (renames.size + takeRetypes(body).retypes.size === 0) return changeSchema(context, name, plan, alongside);
  return retryWhenConditionFailed(async () => {
    // Brings the known schema up to date: the change is planned before its commit.
    await context.store.keyVersions([`schema ${name}`]);
    const retyped = retypedFields(plan(context.store.schema()));
    const followed = renames.size > 0 ? await followRenames(context, name, renames) : undefined;
    const record = await changeSchema(context, name, plan, alongside, followed);
    const notFollowed = await definitionsNaming(context, name, retyped);
    return {
      ...record,
      ...(followed && { changed: followed.changed }),
      ...(Object.keys(notFollowed).length > 0 && { notFollowed }),
    };
  });
}

/**
 * Drops an empty table and switches its triggers off, so that they do not apply to a later table of the same name.
 * Reference: schemas.md#delete-a-table.
 * @throws masterKeyRequired (403), systemTable (119), classMissing (103), schemaOperation (255) if the table has records
 */
export async function deleteSchema(context: RecordContext, className: string): Promise<void> {
  requireKey(context.principal);
  if (isSystemTable(className)) fail('systemTable');
  await commitPlan(context, (schema) => {
    if (!schema.tables.has(className)) fail('classMissing', className);
    return { changes: [{ kind: 'dropTable', className }], mutations: switchOffDefinitions(schema, className), events: [] };
  });
}

/** @param plan pure; called again if the schema changes before the write's turn */
async function changeSchema(
  context: RecordContext,
  className: string,
  plan: SchemaPlan,
  alongside: readonly RecordWrite[] = [],
  followed?: FollowedNames,
): Promise<SchemaRecord> {
  let table: TableSchema | undefined;
  const before: SchemaPlan = (schema) => {
    const changes = plan(schema);
    const after = applyChanges(schema, changes);
    checkDefaults(changes, after);
    table = after.tables.get(className);
    return changes;
  };
  await writeAtomically(context, alongside, before, followed);
  return describeTable(table as unknown as TableSchema);
}
