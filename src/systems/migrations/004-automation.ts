import { applyChange, type SchemaChange } from '../../schema/change.ts';
import { type Schema, tableOf } from '../../schema/model.ts';
import type { Store, WritePlan } from '../../storage/port.ts';
import { readTemplate, type TemplateTable } from '../template/template.ts';
import { insertRow, planTemplateTable } from '../template/template-plan.ts';
import { planMissing } from './001-tables.ts';
import { readRecords, type SystemMigration } from './migration.ts';

/**
 * Systems from before triggers ran get the queue of jobs, and the fields of schedules, with their labels. Existing definitions stay; errors in
 * them show when they run.
 */
export const automation: SystemMigration = { number: 4, what: 'the queue of triggers and their schedules', prepare };

const names: ReadonlySet<string> = new Set(['_Trigger', '_TriggerQueue']);

async function prepare(store: Store): Promise<(schema: Schema) => WritePlan> {
  const template = await readTemplate();
  const wanted = template.filter(({ className }) => names.has(className));
  const labels = template.find(({ className }) => className === '_Dictionary')?.rows ?? [];
  const present = new Set<string>();
  for (const { tblName, field } of await readRecords(store, '_Dictionary', ['tblName', 'field']))
    present.add(`${tblName} ${field}`);
  const missing = labels.filter(({ tblName, field }) => names.has(String(tblName)) && !present.has(`${tblName} ${field}`));
  const at = Date.now();
  return (schema) => plan(schema, wanted, missing, at);
}

function plan(schema: Schema, template: readonly TemplateTable[], labels: TemplateTable['rows'], at: number): WritePlan {
  const changes: SchemaChange[] = [];
  let after = schema;
  for (const wanted of template) {
    const known = schema.tables.get(wanted.className);
    const steps = known ? planMissing(known, wanted.definition) : planTemplateTable(after, wanted);
    changes.push(...steps);
    after = steps.reduce(applyChange, after);
  }
  // An operator may have removed labels of fields that existed before.
  const isNew = ({ tblName, field }: TemplateTable['rows'][number]) => {
    const [was, is] = [schema, after].map(({ tables }) => tables.get(String(tblName))?.fields.get(String(field)));
    return is !== undefined && was?.type !== is.type;
  };
  const rows = schema.tables.has('_Dictionary') ? labels.filter(isNew) : [];
  return { changes, mutations: rows.map((row) => insertRow(tableOf(after, '_Dictionary'), row, at)) };
}
