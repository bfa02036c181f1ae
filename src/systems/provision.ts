import type { JsonObject, JsonValue } from '../kernel/json.ts';
import { applyChange, type SchemaChange } from '../schema/change.ts';
import { planTable } from '../schema/definition.ts';
import { type Field, fieldOf, type Schema, type TableSchema, tableOf } from '../schema/model.ts';
import { checkFieldName } from '../schema/naming.ts';
import { columnsOf } from '../storage/columns.ts';
import type { Mutation, Store, WritePlan } from '../storage/port.ts';
import { type StoredValue, valueTypeOf } from '../values/index.ts';
import { readTemplate, type TemplateTable } from './template.ts';

/**
 * Makes the first tables and rows of a new system from `template/`, in one commit. A system that has tables stays as it is.
 * SPEC "Schema record", "`Config`", "Other system tables".
 */
export async function provision(store: Store): Promise<void> {
  if (store.schema().tables.size > 0) return;
  const template = await readTemplate();
  const at = Date.now();
  await store.write({ plan: (schema) => planTemplate(schema, template, at) });
}

function planTemplate(schema: Schema, template: readonly TemplateTable[], at: number): WritePlan {
  const changes: SchemaChange[] = [];
  const mutations: Mutation[] = [];
  let after = schema;
  for (const { className, definition, rows } of template) {
    const steps = planTable(after, className, definition, checkTemplateName);
    changes.push(...steps);
    after = steps.reduce(applyChange, after);
    const table = tableOf(after, className);
    mutations.push(...rows.map((row) => insertRow(table, row, at)));
  }
  return { changes, mutations };
}

/** The service's own fields may start with an underscore (`_failed_login_count`), which no client's may. */
function checkTemplateName(name: string): void {
  checkFieldName(name.startsWith('_') ? name.slice(1) : name);
}

/** A first row is by the master dummy user, like any write with a key. */
function insertRow(table: TableSchema, row: JsonObject, at: number): Mutation {
  const values = columnsOf(table, { createdAt: at, updatedAt: at, createdBy: 'master', updatedBy: 'master' });
  for (const name of Object.keys(row)) {
    const field = fieldOf(table, name);
    values.push([field, decode(table, field, row[name] as JsonValue)]);
  }
  return { kind: 'insert', table, values };
}

function decode(table: TableSchema, field: Field, value: JsonValue): StoredValue {
  return value === null ? null : valueTypeOf(field).decode(value, field, table.className);
}
