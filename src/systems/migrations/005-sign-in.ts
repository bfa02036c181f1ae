import { readTemplate } from '../template/template.ts';
import { planTemplateTable } from '../template/template-plan.ts';
import { planMissing } from './001-tables.ts';
import type { SystemMigration } from './migration.ts';

/**
 * Systems from before users signed in for agents get the table where the service keeps what that takes. One that a client had made under
 * its name gets the fields, and is seen no more.
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
