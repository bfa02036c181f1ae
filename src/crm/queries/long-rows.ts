import { own } from '../../kernel/json.ts';
import type { CrmContext } from '../context.ts';
import { unless } from '../refusals.ts';
import { visibleFields } from './field-visibility.ts';
import { type Ask, findRows, type Row, rowsWithIds, tableNamed } from './records.ts';

// Public forms accept texts of a megabyte. Lists that include such records leave out the long values.

/** Maximum number of JSON characters of a list, enough for about a thousand ordinary records. */
const MAX_TEXT = 2 * 1024 * 1024;
/** The same per record when records are read in parts. */
const MAX_EACH = 10_000;
/** Maximum number of reads that one list spends on finding long values; values not reached are left out. */
const MAX_SEARCHES = 300;
/** Number of parts that a batch containing an overlong value is split into. */
const PARTS = 4;

/** Records of a list, and by objectId the fields that are left out as too long. */
export interface ListedRows {
  readonly rows: readonly Row[];
  readonly leftOut: ReadonlyMap<string, readonly string[]>;
}

const none: ListedRows['leftOut'] = new Map();
const idAlone = ['objectId'] as const;

/** Like `findRows`, for records that may hold long values. @param ask `keys` must be fields of the table; all fields if absent */
export async function listRows(context: CrmContext, className: string, ask: Ask): Promise<ListedRows> {
  const rows = await unlessLong(() => findRows(context, className, { ...ask, maxChars: MAX_TEXT }));
  if (rows) return { rows, leftOut: none };
  const found = await findRows(context, className, { ...ask, keys: idAlone });
  return rowsInParts(
    context,
    className,
    found.map(({ objectId }) => objectId),
    ask.keys ?? [],
  );
}

/** Like `rowsWithIds`, for records that may hold long values, in the order of the ids; records that no longer exist are left out. */
export async function listRowsWithIds(
  context: CrmContext,
  className: string,
  ids: readonly string[],
  keys: readonly string[],
): Promise<ListedRows> {
  const rows = await unlessLong(() => rowsWithIds(context, className, ids, keys, MAX_TEXT));
  if (!rows) return rowsInParts(context, className, ids, keys);
  const byId = new Map(rows.map((row) => [row.objectId, row]));
  return { rows: ids.flatMap((id) => byId.get(id) ?? []), leftOut: none };
}

const maxCharsOf = (ids: readonly string[]): number => Math.min(ids.length * MAX_EACH, MAX_TEXT);

const unlessLong = <T>(read: () => Promise<T>): Promise<T | null> => unless(['resultTooLarge'], null, read);

/** Reads field by field to find the long ones, and splits the batch for these. */
async function rowsInParts(
  context: CrmContext,
  className: string,
  ids: readonly string[],
  keys: readonly string[],
): Promise<ListedRows> {
  const table = tableNamed(context, className);
  const base = await rowsWithIds(context, className, ids, idAlone);
  const rows = new Map(base.map((row) => [row.objectId, row]));
  const there = ids.filter((id) => rows.has(id));
  const names = keys.length > 0 ? keys : visibleFields(context, table, table.fields.keys());
  const search = { left: MAX_SEARCHES };
  const leftOut = new Map<string, string[]>();
  for (const name of new Set(names).difference(new Set(Object.keys(base[0] ?? {})))) {
    const take = (row: Row) => {
      const value = own(row, name);
      if (value !== undefined) rows.set(row.objectId, { ...(rows.get(row.objectId) as Row), [name]: value });
    };
    const read = (some: readonly string[]) => rowsWithIds(context, className, some, ['objectId', name], maxCharsOf(some));
    for (const id of await eachPart(there, read, take, search)) leftOut.set(id, [...(leftOut.get(id) ?? []), name]);
  }
  return { rows: there.flatMap((id) => rows.get(id) ?? []), leftOut };
}

/**
 * Reads records that may hold overlong values, splitting the batch where needed.
 * @param search number of further reads allowed
 * @returns ids of records that are too long or were not reached
 */
async function eachPart(
  ids: readonly string[],
  read: (some: readonly string[]) => Promise<readonly Row[]>,
  take: (row: Row) => void,
  search = { left: MAX_SEARCHES },
): Promise<readonly string[]> {
  const rows = ids.length === 0 ? [] : await unlessLong(() => read(ids));
  if (rows) {
    rows.forEach(take);
    return [];
  }
  if (ids.length === 1 || search.left < PARTS) return ids;
  search.left -= PARTS;
  const tooLong: string[] = [];
  const size = Math.ceil(ids.length / PARTS);
  for (let at = 0; at < ids.length; at += size) tooLong.push(...(await eachPart(ids.slice(at, at + size), read, take, search)));
  return tooLong;
}

/** Returns records by id, without those that are too long to be read together with others. @throws what `findRows` throws */
export async function shortRowsWithIds(
  context: CrmContext,
  className: string,
  ids: Iterable<string>,
  keys: readonly string[],
): Promise<Row[]> {
  const rows: Row[] = [];
  const read = (some: readonly string[]) => rowsWithIds(context, className, some, keys, maxCharsOf(some));
  await eachPart([...new Set(ids)], read, (row) => rows.push(row));
  return rows;
}
