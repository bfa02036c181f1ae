import { limits } from '../../kernel/limits.ts';
import type { SchemaChange } from '../../schema/change.ts';
import type { Schema, TableSchema } from '../../schema/model.ts';
import { copyFields } from '../../schema/system-tables.ts';
import type { SystemMigration } from './migration.ts';

/**
 * Systems from before logs respected their reader's rights (adr/0016) get the fields that name the sources of a row's values. Existing rows stay
 * without; so does a full table.
 */
export const copies: SystemMigration = {
  number: 7,
  what: 'whose values logs, notifications and mail hold',
  prepare: async () => (schema) => ({ changes: changesFor(schema), mutations: [] }),
};

const wanted = [
  ['_syslogTriggers', copyFields.className],
  ['_syslogTriggers', copyFields.sources],
  ['_Notification', copyFields.sources],
  ['Emails', copyFields.sources],
] as const;

function changesFor({ tables }: Schema): SchemaChange[] {
  return wanted.flatMap(([className, name]) => {
    const table = tables.get(className);
    return table ? missing(table, name) : [];
  });
}

function missing({ className, fields }: TableSchema, name: string): SchemaChange[] {
  const known = fields.get(name);
  if (known?.type === 'String' || (!known && fields.size >= limits.fieldsPerTable)) return [];
  const add: SchemaChange = { kind: 'addField', className, name, type: 'String' };
  return known ? [{ kind: 'dropField', className, name }, add] : [add];
}
