import type { JsonObject } from '../../../kernel/json.ts';
import { isDefaultField } from '../../../schema/change.ts';
import { type Field, optionsOf, type Schema, type TableSchema } from '../../../schema/model.ts';
import { clientIndexes } from '../../../schema/search-index.ts';
import { isDescribed, isHidden } from '../../../schema/system-tables.ts';
import { normalPermissions } from '../model/permissions.ts';
import { type FieldPart, sorted, type TablePart, type UniquePart } from '../model/snapshot.ts';

/** Returns the tables that callers know, by name, sorted. */
export const describedTables = (schema: Schema): TableSchema[] =>
  sorted(schema.tables)
    .map(([, table]) => table)
    .filter(({ className }) => !isHidden(className));

/** Returns the tables of a schema in the form of a snapshot. */
export const tablesOf = (schema: Schema): ReadonlyMap<string, TablePart> =>
  new Map(describedTables(schema).map((table) => [table.className, tablePartOf(table, schema)]));

/** Returns the permissions of all tables in the form of a snapshot. */
export const permissionsOf = (schema: Schema): ReadonlyMap<string, JsonObject> =>
  new Map(describedTables(schema).map(({ className, permissions }) => [className, normalPermissions(permissions)]));

function tablePartOf(table: TableSchema, schema: Schema): TablePart {
  const { className, textIndex, timeline } = table;
  const fields = [...table.fields.values()].filter(({ name }) => !isDefaultField(name) && isDescribed(className, name));
  const unique = [...table.uniqueIndexes.values()].map((index): [string, UniquePart] => {
    const { name, fields: of, as } = index;
    return [name, { fields: of, ...(as && { as }) }];
  });
  return {
    fields: new Map(sorted(fields.map((field) => [field.name, fieldPartOf(field, schema)]))),
    indexes: new Map(sorted(clientIndexes(table).map(({ name, keys }) => [name, Object.fromEntries(keys) as JsonObject]))),
    uniqueIndexes: new Map(sorted(unique)),
    textIndex: [...textIndex].sort(),
    timeline: timeline ? { displayFields: timeline.displayFields as JsonObject, index: timeline.index as JsonObject } : null,
  };
}

function fieldPartOf(field: Field, { tables }: Schema): FieldPart {
  const { type, targetClass } = field;
  if (targetClass === undefined) return { type, ...optionsOf(field) };
  return { type, targetClass, ...(!tables.has(targetClass) && { targetMissing: true }), ...optionsOf(field) };
}
