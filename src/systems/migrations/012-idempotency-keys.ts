import { readTemplate } from '../template/template.ts';
import { planTemplateTable } from '../template/template-plan.ts';
import { planMissing } from './001-tables.ts';
import type { SystemMigration } from './migration.ts';

const className = '_IdempotencyKey';

/** Systems from before repeated requests were recognised get the table of their keys. */
export const idempotencyKeys: SystemMigration = {
  number: 12,
  what: 'keys of repeated requests',
  async prepare() {
    const template = (await readTemplate()).filter((table) => table.className === className);
    return (schema) => ({
      changes: template.flatMap((wanted) => {
        const known = schema.tables.get(wanted.className);
        return known ? planMissing(known, wanted.definition) : planTemplateTable(schema, wanted);
      }),
      mutations: [],
    });
  },
};
