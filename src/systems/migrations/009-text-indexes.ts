import type { SchemaChange } from '../../schema/change.ts';
import type { SystemMigration } from './migration.ts';

/**
 * Rebuilds text indexes from before Hebrew prefix letters and points were handled, like a client would: large ones while requests of other
 * systems get their turns.
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
