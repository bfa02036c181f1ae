import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import type { SchemaChange } from '../../schema/change.ts';
import { planTable } from '../../schema/definition.ts';
import { checkFieldName, type Field, fieldOf, type Schema, type TableSchema } from '../../schema/model.ts';
import { columnsOf } from '../../storage/column-values.ts';
import type { Mutation } from '../../storage/port.ts';
import { type StoredValue, valueTypeOf } from '../../values/index.ts';
import type { TemplateTable } from './template.ts';

/** Plans the creation of a table of the template. */
export function planTemplateTable(schema: Schema, { className, definition }: TemplateTable): SchemaChange[] {
  return planTable(schema, className, definition, checkTemplateName);
}

/** Unlike those of clients, the service's own fields may start with an underscore (`_failed_login_count`). */
function checkTemplateName(name: string): void {
  checkFieldName(name.startsWith('_') ? name.slice(1) : name);
}

/** First rows are written by the master dummy user, like any write with a key. */
export function insertRow(table: TableSchema, row: JsonObject, at: number): Mutation {
  const values = columnsOf(table, { createdAt: at, updatedAt: at, createdBy: 'master', updatedBy: 'master' });
  for (const name of Object.keys(row)) {
    const field = fieldOf(table, name);
    values.push([field, decode(table, field, row[name] as JsonValue)]);
  }
  return { kind: 'insert', table, values };
}

function decode(table: TableSchema, field: Field, value: JsonValue): StoredValue {
  return value === null ? null : valueTypeOf(field).decode(value, field, table.className);
}
