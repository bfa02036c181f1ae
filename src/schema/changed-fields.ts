import { withoutFormer } from './former-names.ts';
import { type Field, fieldOf, type TableSchema } from './model.ts';
import { copyName } from './sql-names.ts';

/** Returns a table whose field has another type; its records are in a copy then. */
export function retypeField(
  table: TableSchema,
  { name, type, targetClass }: Pick<Field, 'name' | 'type' | 'targetClass'>,
): TableSchema {
  const { targetClass: _, ...field } = fieldOf(table, name);
  const retyped: Field = { ...field, type, ...(targetClass !== undefined && { targetClass }) };
  return { ...table, sqlName: copyName(table), fields: new Map(table.fields).set(name, retyped) };
}

/**
 * Returns a table whose fields have other names, all at once. Permissions and settings still have the former ones.
 * @param names new names, which the table does not have, by the present ones
 */
export function renameFields(table: TableSchema, names: ReadonlyMap<string, string>): TableSchema {
  const gained = new Set(names.values());
  for (const [name, to] of names)
    if (!table.fields.has(name) || table.fields.has(to)) throw new Error(`field ${table.className}.${name} cannot be ${to}`);
  const renamed = (one: string) => names.get(one) ?? one;
  return {
    ...table,
    fields: new Map(Array.from(table.fields.values(), (field) => [renamed(field.name), { ...field, name: renamed(field.name) }])),
    indexes: new Map(
      Array.from(table.indexes, ([name, index]) => [
        name,
        { ...index, keys: index.keys.map(([field, direction]) => [renamed(field), direction] as const) },
      ]),
    ),
    uniqueIndexes: new Map(
      Array.from(table.uniqueIndexes, ([name, index]) => [name, { ...index, fields: index.fields.map(renamed) }]),
    ),
    textIndex: table.textIndex.map(renamed),
    formerNames: new Map(
      Array.from(
        withoutFormer(table, (former) => gained.has(former)),
        ([former, now]) => [former, renamed(now)],
      ),
    ),
  };
}
