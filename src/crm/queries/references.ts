import type { JsonObject } from '../../kernel/json.ts';
import type { CrmContext } from '../context.ts';
import { titleFieldsOf, titleOf } from '../wire/titles.ts';
import { pointer } from '../wire/values.ts';
import { askable, seen } from './field-visibility.ts';
import { countRows, findRows, knownTables, tableNamed } from './records.ts';

/** A table with the fields of it that point at another. */
export interface Referrer {
  readonly className: string;
  readonly fields: readonly string[];
}

/** Who made and who changed a record says nothing of what it is about. */
const authors: ReadonlySet<string> = new Set(['createdBy', 'updatedBy']);

/**
 * The tables that point at one: by Pointers, Relations, and multi-select Arrays (SPEC "Wire types"). Tables that tell of what was are none,
 * nor those that the caller may not know of; fields that are hidden from him are left out.
 * @returns in the order of the schema
 */
export function referrersOf(context: CrmContext, className: string): Referrer[] {
  const schema = context.store.schema();
  const found = new Map<string, string[]>();
  const add = (table: string, field: string) => found.set(table, [...(found.get(table) ?? []), field]);
  for (const { table, field } of schema.referencesTo.get(className) ?? [])
    if (!authors.has(field.name)) add(table.className, field.name);
  const ending = `_Pointer_${className}`;
  for (const { className: other, fields } of schema.tables.values())
    for (const { name, type } of fields.values())
      if (type === 'Array' && name.startsWith('array_') && name.endsWith(ending)) add(other, name);
  return knownTables(context).flatMap((table) => {
    const fields = found.get(table.className);
    const asked = fields ? askable(context, table, fields) : [];
    return asked.length > 0 ? [{ className: table.className, fields: asked }] : [];
  });
}

/** The `where` of a referrer's records that point at a record. */
export function pointingAt({ fields }: Referrer, className: string, objectId: string): JsonObject {
  const wheres = fields.map((field): JsonObject => ({ [field]: pointer(className, objectId) }));
  const [only = {}] = wheres;
  return wheres.length === 1 ? only : { $or: wheres };
}

/** The records of a referrer that point at one. */
export interface Referring {
  readonly count: number;
  /** The newest, with what they are called. */
  readonly newest: readonly { readonly objectId: string; readonly title?: string; readonly createdAt: string }[];
}

/** How many records of a table match, and the newest of them; `null` where there are none. @throws what `findRows` throws */
export async function newestReferring(
  context: CrmContext,
  { className }: Referrer,
  where: JsonObject,
  limit: number,
): Promise<Referring | null> {
  const count = await countRows(context, className, where);
  if (count === 0) return null;
  const table = tableNamed(context, className);
  const keys = ['objectId', 'createdAt', ...seen(context, table, titleFieldsOf(table))];
  const rows = limit === 0 ? [] : await findRows(context, className, { where, keys, order: '-createdAt', limit });
  const newest = rows.map(({ objectId, createdAt, ...row }) => {
    const title = titleOf(row);
    return { objectId, ...(title !== undefined && { title }), createdAt: String(createdAt) };
  });
  return { count, newest };
}
