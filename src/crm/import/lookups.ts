import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { visibleFields } from '../queries/field-visibility.ts';
import { findRows, type Row, tableIfAny } from '../queries/records.ts';
import { folded } from '../search/text-match.ts';
import { multiSelectTarget } from '../wire/multi-select.ts';
import { titleFieldsOf } from '../wire/titles.ts';

/** Resolves names to records. */
export interface Lookup {
  readonly className: string;
  /** Returns the objectIds of the records that a name or objectId stands for. */
  find(text: string): readonly string[];
}

/** Tables of at most this many records are read whole. */
const MAX_ROWS_READ_WHOLE = 2_000;
const BATCH_SIZE = 500;
const MAX_FOUND = 5_000;

/** Returns the target table of a Pointer, or of a multi-select Array (types.md#array). */
export const linkedTable = (field: Field): string | undefined =>
  field.type === 'Pointer' ? field.targetClass : multiSelectTarget(field);

/** Returns what a value names: its text, or the id of a Pointer; `null` for anything else and for Pointers to other tables. */
export function targetOf(value: JsonValue, className: string): string | null {
  if (typeof value === 'string') return value.trim();
  if (typeof value === 'number') return String(value);
  if (!isJsonObject(value) || own(value, 'className') !== className) return null;
  const id = own(value, 'objectId');
  return typeof id === 'string' ? id : null;
}

/**
 * Resolves texts to records as the caller: by objectId, or by name regardless of case. In a table of more than 2,000 records, names must match
 * exactly as
 * stored.
 * @throws permissionDenied (119) if the caller may not read the table
 */
export async function lookupOf(context: CrmContext, className: string, texts: ReadonlySet<string>): Promise<Lookup> {
  const table = tableIfAny(context, className);
  const byName = new Map<string, string[]>();
  const byId = new Set<string>();
  const names = table ? namesIn(context, table) : [];
  for (const row of table && texts.size > 0 ? await candidates(context, table, names, [...texts]) : []) {
    byId.add(row.objectId);
    for (const name of new Set(namesOf(row, names))) byName.set(name, [...(byName.get(name) ?? []), row.objectId]);
  }
  return { className, find: (text) => (byId.has(text) ? [text] : (byName.get(folded(text)) ?? [])) };
}

/** Users match by display name and by both login names. */
const namesIn = (context: CrmContext, table: TableSchema): string[] =>
  visibleFields(context, table, table.className === '_User' ? ['name', 'username', 'email'] : titleFieldsOf(table));

function namesOf(row: Row, names: readonly string[]): string[] {
  const texts = names.flatMap((name) =>
    typeof row[name] === 'string' || typeof row[name] === 'number' ? [String(row[name])] : [],
  );
  return (names[0] === 'FirstName' ? [texts.join(' ')] : texts).map(folded);
}

async function candidates(
  context: CrmContext,
  { className }: TableSchema,
  names: readonly string[],
  texts: string[],
): Promise<Row[]> {
  const keys = ['objectId', ...names];
  const all = await findRows(context, className, { keys, limit: MAX_ROWS_READ_WHOLE + 1 });
  if (all.length <= MAX_ROWS_READ_WHOLE) return all;
  const found: Row[] = [];
  for (let at = 0; at < texts.length; at += BATCH_SIZE) {
    const some = texts.slice(at, at + BATCH_SIZE);
    const wheres: JsonObject[] = [
      { objectId: { $in: some } },
      ...names.map((name) => ({ [name]: { $in: partsOf(names, some) } })),
    ];
    for (const where of wheres) found.push(...(await findRows(context, className, { where, keys, limit: MAX_FOUND })));
  }
  return [...new Map(found.map((row) => [row.objectId, row])).values()];
}

/** For names in two fields, queries the first word; the results are then compared as a whole. */
const partsOf = (names: readonly string[], texts: readonly string[]): string[] =>
  names[0] === 'FirstName' ? [...new Set(texts.map((text) => text.split(/\s+/)[0] ?? text))] : [...texts];
