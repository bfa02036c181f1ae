import { planMissing } from './001-tables.ts';
import { nothing, type SystemMigration } from './migration.ts';

const className = '_DynamicQueries';

/** Saved reports get what the console keeps of a view beside what a report has: how its columns stand. Who deleted their table has no views. */
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
