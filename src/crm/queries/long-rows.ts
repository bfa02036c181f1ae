import { own } from '../../kernel/json.ts';
import type { CrmContext } from '../context.ts';
import { unless } from '../refusals.ts';
import { seen } from './field-visibility.ts';
import { type Ask, findRows, type Row, rowsWithIds, tableNamed } from './records.ts';

// Public forms take texts of a megabyte. Records that hold such are listed all the same, without what is long.

/** Characters of JSON text that a list has: some thousand usual records. */
const MAX_TEXT = 2 * 1024 * 1024;
/** The same of each record of those of which one is too long. */
const MAX_EACH = 10_000;
/** Reads by which one list looks for what is long; what they do not come to is left out. */
const MAX_SEARCHES = 300;
/** Parts that one is divided into of which something is too long. */
const PARTS = 4;

/** Records of a list, and the fields of each that are left out since they are too long for one; by objectId. */
export interface ListedRows {
  readonly rows: readonly Row[];
  readonly leftOut: ReadonlyMap<string, readonly string[]>;
}

const none: ListedRows['leftOut'] = new Map();
const idAlone = ['objectId'] as const;

/** As `findRows`, of records of which some may hold very much. @param ask with fields of the table as `keys`, all where there are none */
export async function listRows(context: CrmContext, className: string, ask: Ask): Promise<ListedRows> {
  const rows = await unlessLong(() => findRows(context, className, { ...ask, most: MAX_TEXT }));
  if (rows) return { rows, leftOut: none };
  const found = await findRows(context, className, { ...ask, keys: idAlone });
  return rowsInParts(
    context,
    className,
    found.map(({ objectId }) => objectId),
    ask.keys ?? [],
  );
}

/** As `rowsWithIds`, of records of which some may hold very much, in the order of their ids; those that are gone are left out. */
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

const mostOf = (ids: readonly string[]): number => Math.min(ids.length * MAX_EACH, MAX_TEXT);

const unlessLong = <T>(read: () => Promise<T>): Promise<T | null> => unless(['resultTooLarge'], null, read);

/** Field by field, to learn which are long; of these record by record. */
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
  const names = keys.length > 0 ? keys : seen(context, table, table.fields.keys());
  const search = { left: MAX_SEARCHES };
  const leftOut = new Map<string, string[]>();
  for (const name of new Set(names).difference(new Set(Object.keys(base[0] ?? {})))) {
    const take = (row: Row) => {
      const value = own(row, name);
      if (value !== undefined) rows.set(row.objectId, { ...(rows.get(row.objectId) as Row), [name]: value });
    };
    const read = (some: readonly string[]) => rowsWithIds(context, className, some, ['objectId', name], mostOf(some));
    for (const id of await eachPart(there, read, take, search)) leftOut.set(id, [...(leftOut.get(id) ?? []), name]);
  }
  return { rows: there.flatMap((id) => rows.get(id) ?? []), leftOut };
}

/**
 * Reads records of which some may be too long, part by part.
 * @param search reads that are left beside the first
 * @returns those that are too long, or were not come to
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

/** Records by id, without those that are too long to be read among others. @throws what `findRows` throws */
export async function shortRowsWithIds(
  context: CrmContext,
  className: string,
  ids: Iterable<string>,
  keys: readonly string[],
): Promise<Row[]> {
  const rows: Row[] = [];
  const read = (some: readonly string[]) => rowsWithIds(context, className, some, keys, mostOf(some));
  await eachPart([...new Set(ids)], read, (row) => rows.push(row));
  return rows;
}
