import type { JsonObject } from '../../kernel/json.ts';
import { isDefaultField } from '../../schema/change.ts';
import { type Field, type TableSchema, typeText } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';

/**
 * Executes a write and reports the table and fields that it added: with a key, a misspelt name creates one, and fields cannot be renamed
 * (types.md#names).
 * @param table the table written to
 * @returns the result of the work, with `added` if anything was added
 */
export async function withAdded<T extends JsonObject>(
  context: CrmContext,
  table: string,
  work: () => Promise<T>,
): Promise<JsonObject> {
  const before = context.store.schema().tables.get(table);
  const answer = await work();
  const added = addedTo(before, context.store.schema().tables.get(table));
  if (added.length === 0) return answer;
  const more = added.length - MAX_SHOWN;
  return { ...answer, added: more > 0 ? [...added.slice(0, MAX_SHOWN), `and ${more} more`] : added };
}

/** Maximum number of additions listed; a write may create more. */
const MAX_SHOWN = 50;

/** `field Foo (String) on Accounts`, preceded by the table if it is new. */
function addedTo(before: TableSchema | undefined, after: TableSchema | undefined): string[] {
  if (!after || before?.fields === after.fields) return [];
  const lines = newFields(before, after).map((field) => `${fieldText(field)} on ${after.className}`);
  return before ? lines : [`table ${after.className}`, ...lines];
}

/** Returns the fields that `after` has in addition. @param before `undefined` for a new table */
export const newFields = (before: TableSchema | undefined, after: TableSchema): Field[] =>
  [...after.fields.values()].filter(({ name }) => !before?.fields.has(name) && !isDefaultField(name));

/** `field Foo (Pointer<Accounts>)`. */
export const fieldText = ({ name, type, targetClass }: Field): string => `field ${name} (${typeText(type, targetClass)})`;
