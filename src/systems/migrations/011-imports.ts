import { readTemplate } from '../template/template.ts';
import { planTemplateTable } from '../template/template-plan.ts';
import { planMissing } from './001-tables.ts';
import type { SystemMigration } from './migration.ts';

const names: ReadonlySet<string> = new Set(['_ImportJob', '_ImportReject']);

/** Systems from before imports could continue get the tables of import progress. */
export const imports: SystemMigration = {
  number: 11,
  what: 'how far imports are',
  async prepare() {
    const template = (await readTemplate()).filter(({ className }) => names.has(className));
    return (schema) => ({
      changes: template.flatMap((wanted) => {
        const known = schema.tables.get(wanted.className);
        return known ? planMissing(known, wanted.definition) : planTemplateTable(schema, wanted);
      }),
      mutations: [],
    });
  },
};
