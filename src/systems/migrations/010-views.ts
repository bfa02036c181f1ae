import { planMissing } from './001-tables.ts';
import { nothing, type SystemMigration } from './migration.ts';

const className = '_DynamicQueries';

/** Saved reports get the field in which the console stores the columns of a view. Systems without that table have no views. */
export const views: SystemMigration = {
  number: 10,
  what: 'what saved views show',
  async prepare() {
    const definition = { fields: { View: { type: 'Object' } } };
    return (schema) => {
      const table = schema.tables.get(className);
      return table ? { changes: planMissing(table, definition), mutations: [] } : nothing;
    };
  },
};
