import type { JsonObject } from '../../kernel/json.ts';
import type { CrmContext } from '../context.ts';
import { titleFieldsOf, titleOf } from '../wire/titles.ts';
import { pointer } from '../wire/values.ts';
import { queryableFields, visibleFields } from './field-visibility.ts';
import { countRows, findRows, knownTables, tableNamed } from './records.ts';

/** A table with its fields that point to another table. */
export interface Referrer {
  readonly className: string;
  readonly fields: readonly string[];
}

/** The creator and last editor of a record are not what the record is about. */
const authors: ReadonlySet<string> = new Set(['createdBy', 'updatedBy']);

/**
 * Returns the tables that point to a table: by Pointers, Relations and multi-select Arrays (types.md#array). Tables that the caller may not know of,
 * and
 * fields hidden from the caller, are left out.
 * @returns in schema order
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
    const visible = fields ? queryableFields(context, table, fields) : [];
    return visible.length > 0 ? [{ className: table.className, fields: visible }] : [];
  });
}

/** Returns the `where` for a referrer's records that point to a record. */
export function pointingAt({ fields }: Referrer, className: string, objectId: string): JsonObject {
  const wheres = fields.map((field): JsonObject => ({ [field]: pointer(className, objectId) }));
  const [only = {}] = wheres;
  return wheres.length === 1 ? only : { $or: wheres };
}

/** Records of a referrer that point to a record. */
export interface Referring {
  readonly count: number;
  /** The newest, with their titles. */
  readonly newest: readonly { readonly objectId: string; readonly title?: string; readonly createdAt: string }[];
}

/** Returns the number of matching records and the newest of them; `null` if there are none. @throws what `findRows` throws */
export async function newestReferring(
  context: CrmContext,
  { className }: Referrer,
  where: JsonObject,
  limit: number,
): Promise<Referring | null> {
  const count = await countRows(context, className, where);
  if (count === 0) return null;
  const table = tableNamed(context, className);
  const keys = ['objectId', 'createdAt', ...visibleFields(context, table, titleFieldsOf(table))];
  const rows = limit === 0 ? [] : await findRows(context, className, { where, keys, order: '-createdAt', limit });
  const newest = rows.map(({ objectId, createdAt, ...row }) => {
    const title = titleOf(row);
    return { objectId, ...(title !== undefined && { title }), createdAt: String(createdAt) };
  });
  return { count, newest };
}
