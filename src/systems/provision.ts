import { applyChange, type SchemaChange } from '../schema/change.ts';
import { type Schema, tableOf } from '../schema/model.ts';
import type { Mutation, Store, WritePlan } from '../storage/port.ts';
import { setNewestVersion } from './migrations/index.ts';
import { readTemplate, type TemplateTable } from './template/template.ts';
import { insertRow, planTemplateTable } from './template/template-plan.ts';

/**
 * Creates the first tables and rows of a new system from `template/`, in one commit. A system with tables is left unchanged.
 * Reference: schemas.md#schema-record.
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
  for (const table of template) {
    const steps = planTemplateTable(after, table);
    changes.push(...steps);
    after = steps.reduce(applyChange, after);
    const made = tableOf(after, table.className);
    mutations.push(...table.rows.map((row) => insertRow(made, row, at)));
  }
  return { changes: [...changes, setNewestVersion], mutations };
}
