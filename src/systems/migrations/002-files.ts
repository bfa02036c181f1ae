import { applyChange, type SchemaChange } from '../../schema/change.ts';
import { type Schema, tableOf } from '../../schema/model.ts';
import type { Mutation, Store, WritePlan } from '../../storage/port.ts';
import { readTemplate, type TemplateTable } from '../template/template.ts';
import { insertRow, planTemplateTable } from '../template/template-plan.ts';
import { planMissing } from './001-tables.ts';
import { readRecords, type SystemMigration } from './migration.ts';

/**
 * Systems from before there were files get the tables that hold file metadata. A table that a client created under such a name gets the fields
 * and becomes hidden.
 */
export const files: SystemMigration = { number: 2, what: 'the tables of files', prepare };

const names: ReadonlySet<string> = new Set(['_StoredFile', '_StorageUsage']);

async function prepare(store: Store): Promise<(schema: Schema) => WritePlan> {
  const template = (await readTemplate()).filter(({ className }) => names.has(className));
  const present = new Set<string>();
  for (const { className, rows } of template)
    for (const { objectId } of rows.length > 0 ? await readRecords(store, className, ['objectId']) : [])
      present.add(`${className} ${objectId}`);
  const at = Date.now();
  return (schema) => plan(schema, template, present, at);
}

function plan(schema: Schema, template: readonly TemplateTable[], present: ReadonlySet<string>, at: number): WritePlan {
  const changes: SchemaChange[] = [];
  const mutations: Mutation[] = [];
  let after = schema;
  for (const wanted of template) {
    const { className, definition, rows } = wanted;
    const known = schema.tables.get(className);
    const steps = known ? planMissing(known, definition) : planTemplateTable(after, wanted);
    changes.push(...steps);
    after = steps.reduce(applyChange, after);
    const table = tableOf(after, className);
    const missing = rows.filter(({ objectId }) => !present.has(`${className} ${objectId}`));
    mutations.push(...missing.map((row) => insertRow(table, row, at)));
  }
  return { changes, mutations };
}
