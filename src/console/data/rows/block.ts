import type { CrmContext } from '../../../crm/context.ts';
import { type ListedRows, listRows, listRowsWithIds } from '../../../crm/queries/long-rows.ts';
import { countRows, findRows, type Row, rowsWithIds } from '../../../crm/queries/records.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { refuse } from '../wire/parameters.ts';
import { type Cursor, cursorOf, placeOf } from './cursor.ts';
import { orderText, type RowOrder, reversed, type SeekKey } from './order.ts';
import { conditionsAfter, type Place } from './seek.ts';

/** Selection, order and projection of rows. */
export interface BlockQuery {
  readonly context: CrmContext;
  readonly className: string;
  readonly where: JsonObject;
  readonly order: RowOrder;
  /** Fields to return, including those of the order; if empty, all visible fields. */
  readonly keys: readonly string[];
  readonly limit: number;
}

/** A block of rows with cursors of its first and last row; `null` if it is empty. */
export interface Block extends ListedRows {
  readonly first: Cursor | null;
  readonly last: Cursor | null;
}

/** Returns the rows at an offset, counted from the beginning. @throws errors of `findRows` */
export async function blockAt(query: BlockQuery, skip: number): Promise<Block> {
  const { keys, text } = query.order;
  const found = await find(query, query.where, text, skip, query.limit);
  return keys ? withPlaces(found, keys) : withPositions(found, skip);
}

/** Returns the rows after or before a cursor. @throws invalidArguments (107) if the cursor refers to a row that was deleted */
export async function blockBeside(query: BlockQuery, cursor: Cursor, side: Side): Promise<Block> {
  const { keys } = query.order;
  if (cursor.kind === 'position') return blockBesidePosition(query, cursor.position, side);
  if (!keys) return refuse('the cursor', 'is none of this order');
  const place = cursor.kind === 'place' ? cursor.place : await placeOfRow(query, keys, cursor.objectId);
  return blockBesidePlace(query, keys, place, side);
}

export type Side = 'after' | 'before';

/** Returns the rows after or before a place in an order. @param skip number of adjacent rows to skip; the caller must be allowed to count */
export async function blockBesidePlace(
  query: BlockQuery,
  keys: readonly SeekKey[],
  place: Place | null,
  side: Side,
  skip = 0,
): Promise<Block> {
  const found = await rowsAfter(query, side === 'after' ? keys : reversed(keys), place, skip);
  return withPlaces(side === 'after' ? found : { ...found, rows: found.rows.toReversed() }, keys);
}

async function blockBesidePosition(query: BlockQuery, position: number, side: Side): Promise<Block> {
  if (side === 'after') return blockAt(query, position + 1);
  const skip = Math.max(position - query.limit, 0);
  return blockAt({ ...query, limit: position - skip }, skip);
}

/** Reads each condition in turn: an index seeks to its first row, regardless of the distance from the beginning. */
async function rowsAfter(query: BlockQuery, keys: readonly SeekKey[], place: Place | null, skip: number): Promise<ListedRows> {
  const { context, className, limit } = query;
  const rows: Row[] = [];
  const leftOut = new Map<string, readonly string[]>();
  const order = orderText(keys);
  const conditions = place ? conditionsAfter(keys, place) : [{}];
  let left = skip;
  for (const [at, condition] of conditions.entries()) {
    if (rows.length >= limit) break;
    const where = allOf(query.where, condition);
    const found = await find(query, where, order, left, limit - rows.length);
    rows.push(...found.rows);
    for (const [objectId, names] of found.leftOut) leftOut.set(objectId, names);
    if (found.rows.length > 0) left = 0;
    // Count only here: a condition may match most of the table, but one that returned nothing matches at most the few rows to skip.
    else if (left > 0 && at < conditions.length - 1) left -= await countRows(context, className, where);
  }
  return { rows, leftOut };
}

async function placeOfRow({ context, className }: BlockQuery, keys: readonly SeekKey[], objectId: string): Promise<Place> {
  const names = keys.map(({ name }) => name);
  const [row] = await rowsWithIds(context, className, [objectId], names);
  return row ? placeOf(row, keys) : refuse('the cursor', 'stands for a row that is gone');
}

/** Offset beyond which only ids are read first: an engine that sorts carries all selected columns along. */
const MAX_SKIP_WITH_COLUMNS = 50_000;

async function find(query: BlockQuery, where: JsonObject, order: string, skip: number, limit: number): Promise<ListedRows> {
  const { context, className, keys } = query;
  if (limit === 0) return { rows: [], leftOut: new Map() };
  if (skip <= MAX_SKIP_WITH_COLUMNS) return listRows(context, className, { where, keys, order, skip, limit });
  const found = await findRows(context, className, { where, keys: ['objectId'], order, skip, limit });
  // A row may have been deleted meanwhile.
  return listRowsWithIds(
    context,
    className,
    found.map(({ objectId }) => objectId),
    keys,
  );
}

const allOf = (where: JsonObject, condition: JsonObject): JsonObject => {
  const parts = [where, condition].filter((part) => Object.keys(part).length > 0);
  return parts.length > 1 ? { $and: parts } : (parts[0] ?? {});
};

function withPlaces({ rows, leftOut }: ListedRows, keys: readonly SeekKey[]): Block {
  const cursor = (row: Row | undefined): Cursor | null => {
    if (!row) return null;
    const missing = leftOut.get(row.objectId) ?? [];
    return cursorOf(row, keys, !keys.some(({ name }) => missing.includes(name)));
  };
  return { rows, leftOut, first: cursor(rows[0]), last: cursor(rows.at(-1)) };
}

function withPositions({ rows, leftOut }: ListedRows, skip: number): Block {
  const cursor = (at: number): Cursor | null => (rows.length > 0 ? { kind: 'position', position: skip + at } : null);
  return { rows, leftOut, first: cursor(0), last: cursor(rows.length - 1) };
}
