import { adminLog } from '../../acts/index.ts';
import type { SchemaChange } from '../../schema/change.ts';
import type { Schema } from '../../schema/model.ts';
import { readTemplate, type TemplateTable } from '../template/template.ts';
import { planTemplateTable } from '../template/template-plan.ts';
import { definedField, planMissing } from './001-tables.ts';
import type { SystemMigration } from './migration.ts';

const requestLog = '_RequestLog';
const column = 'keyName';

/**
 * Systems from before the log of administrators get its table, and the request log the name of the key. Processes of the version before go on
 * serving the system: they know nothing of either.
 */
export const adminLogTable: SystemMigration = {
  number: 13,
  what: 'the log of administrators, keys in the request log',
  compatibleFrom: 12,
  async prepare() {
    const template = new Map((await readTemplate()).map((table) => [table.className, table]));
    return (schema) => ({
      changes: [...made(schema, template.get(adminLog) as TemplateTable), ...named(schema, template.get(requestLog))],
      mutations: [],
    });
  },
};

function made(schema: Schema, wanted: TemplateTable): SchemaChange[] {
  const known = schema.tables.get(wanted.className);
  return known ? planMissing(known, wanted.definition) : planTemplateTable(schema, wanted);
}

/** Only the new column: an operator may have deleted none of the others, but put aside fields of other types. */
function named({ tables }: Schema, wanted: TemplateTable | undefined): SchemaChange[] {
  const table = tables.get(requestLog);
  const field = wanted && definedField(wanted.definition, column);
  if (!table || !field) return [];
  return planMissing(table, { fields: { [column]: { type: field.type } } });
}
