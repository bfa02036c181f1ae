import type { JsonObject } from '../../kernel/json.ts';
import { isDefaultField } from '../../schema/change.ts';
import { type Field, type TableSchema, typeText } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';

/**
 * Does a write, and tells which table and fields it has added: under a key a misspelt name makes one (SPEC "Limits": a field cannot be renamed).
 * @param table that is written to
 * @returns what the work answers, with `added` where there is something to tell
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

/** A write may bring more than an answer holds. */
const MAX_SHOWN = 50;

/** `field Foo (String) on Accounts`, or the whole table where it is new. */
function addedTo(before: TableSchema | undefined, after: TableSchema | undefined): string[] {
  if (!after || before?.fields === after.fields) return [];
  const told = newFields(before, after).map((field) => `${fieldText(field)} on ${after.className}`);
  return before ? told : [`table ${after.className}`, ...told];
}

/** The fields that a table has more. @param before `undefined`: it is new */
export const newFields = (before: TableSchema | undefined, after: TableSchema): Field[] =>
  [...after.fields.values()].filter(({ name }) => !before?.fields.has(name) && !isDefaultField(name));

/** `field Foo (Pointer<Accounts>)`. */
export const fieldText = ({ name, type, targetClass }: Field): string => `field ${name} (${typeText(type, targetClass)})`;
