import { readTemplate } from '../template/template.ts';
import { planTemplateTable } from '../template/template-plan.ts';
import { planMissing } from './001-tables.ts';
import type { SystemMigration } from './migration.ts';

/**
 * Systems from before agents' sign-in get the table of its state. A table that a client created under its name gets the fields and becomes
 * hidden.
 */
export const signIn: SystemMigration = {
  number: 5,
  what: 'the table of sign-ins for agents',
  async prepare() {
    const template = (await readTemplate()).filter(({ className }) => className === '_OAuthItem');
    return (schema) => ({
      changes: template.flatMap((wanted) => {
        const known = schema.tables.get(wanted.className);
        return known ? planMissing(known, wanted.definition) : planTemplateTable(schema, wanted);
      }),
      mutations: [],
    });
  },
};
