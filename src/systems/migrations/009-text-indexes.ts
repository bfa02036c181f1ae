import type { SchemaChange } from '../../schema/change.ts';
import type { SystemMigration } from './migration.ts';

/**
 * Text indexes from before words were found behind Hebrew prefix letters and points are made anew, as a client makes them: large ones while the
 * requests of other systems have their turns.
 */
export const textIndexes: SystemMigration = {
  number: 9,
  what: 'Hebrew words in text indexes',
  prepare: async () => (schema) => ({
    changes: [...schema.tables.values()].flatMap(({ className, textIndex: fields }): SchemaChange[] => {
      const none: SchemaChange = { kind: 'setTextIndex', className, fields: [] };
      return fields.length === 0 ? [] : [none, { ...none, fields }];
    }),
    mutations: [],
  }),
};
