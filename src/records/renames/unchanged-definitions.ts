import type { JsonObject } from '../../kernel/json.ts';
import { PresentNames } from '../../query/present-names.ts';
import { type SchemaChange, schemaOf } from '../../schema/change.ts';
import type { Schema, TableSchema } from '../../schema/model.ts';
import type { RecordContext } from '../context/context.ts';

/** Ends a name that no field has. */
const MARK = '~';

/** Returns the names of the fields whose type changes. */
export const retypedFields = (changes: readonly SchemaChange[]): string[] =>
  changes.flatMap((change) => (change.kind === 'retypeField' ? [change.name] : []));

/**
 * Finds definitions that name fields: of triggers, reports and settings. They may hold values of a field's former type, and stay as they are.
 * Reference: schemas.md#change-the-type-of-a-field.
 * @throws unavailable, timeout
 */
export async function definitionsNaming(
  { store, hooks }: RecordContext,
  className: string,
  fields: readonly string[],
): Promise<JsonObject> {
  const table = store.schema().tables.get(className);
  if (!table || fields.length === 0) return {};
  const renames = new Map(fields.map((name) => [name, `${name}${MARK}`]));
  const names = new PresentNames(withMarks(store.schema(), table, renames));
  const found: JsonObject[] = [];
  for (const holder of hooks.nameHolders ?? []) found.push((await holder.follow(store, { className, renames, names })).changed);
  return Object.assign({}, ...found);
}

/** Returns a schema in which the fields are called otherwise, so that definitions that name them would change. */
function withMarks(schema: Schema, table: TableSchema, renames: ReadonlyMap<string, string>): Schema {
  const fields = new Map(
    Array.from(table.fields, ([name, field]) => {
      const marked = renames.get(name) ?? name;
      return [marked, { ...field, name: marked }];
    }),
  );
  const tables = new Map(schema.tables).set(table.className, { ...table, fields, formerNames: renames });
  return schemaOf({ ...schema, tables });
}
