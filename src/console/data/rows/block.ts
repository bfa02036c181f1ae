import type { CrmContext } from '../../../crm/context.ts';
import { findRows, getRow, type Row } from '../../../crm/queries/records.ts';
import { unless } from '../../../crm/refusals.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { refuse } from '../wire/parameters.ts';
import { type Cursor, placeOf } from './cursor.ts';
import { orderText, type RowOrder, type SeekKey, turned } from './order.ts';
import { conditionsAfter, type Place } from './seek.ts';

/** Which rows are read, in which order, and what of them. */
export interface BlockQuery {
  readonly context: CrmContext;
  readonly className: string;
  readonly where: JsonObject;
  readonly order: RowOrder;
  /** All that the caller sees where there are none. Those of the order are among them. */
  readonly keys: readonly string[];
  readonly limit: number;
}

/** Some rows, and where the first and the last of them are; `null` where there are none. */
export interface Block {
  readonly rows: readonly Row[];
  readonly first: Cursor | null;
  readonly last: Cursor | null;
}

/** The rows after so many. @throws what `findRows` throws */
export async function blockAt(query: BlockQuery, skip: number): Promise<Block> {
  const { keys, text } = query.order;
  const rows = await find(query, query.where, text, skip, query.limit);
  return keys ? placed(rows, keys) : counted(rows, skip);
}

/** The rows after, or before, the one at a cursor. @throws invalidArguments (107) where a row that it stands for is gone */
export async function blockBeside(query: BlockQuery, cursor: Cursor, side: 'after' | 'before'): Promise<Block> {
  const { order, limit } = query;
  if (cursor.kind === 'position' || !order.keys) return blockBesidePosition(query, cursor as Counted, side);
  const place = cursor.kind === 'place' ? cursor.place : await placeOfRow(query, order.keys, cursor.objectId);
  const keys = side === 'after' ? order.keys : turned(order.keys);
  const rows = await rowsAfter(query, keys, place, limit);
  return placed(side === 'after' ? rows : rows.reverse(), order.keys);
}

type Counted = Extract<Cursor, { kind: 'position' }>;

async function blockBesidePosition(query: BlockQuery, { position }: Counted, side: 'after' | 'before'): Promise<Block> {
  if (side === 'after') return blockAt(query, position + 1);
  const skip = Math.max(position - query.limit, 0);
  return blockAt({ ...query, limit: position - skip }, skip);
}

/** Each condition in turn: an index leads to its first row, however far the place is from the beginning. */
async function rowsAfter(query: BlockQuery, keys: readonly SeekKey[], place: Place, limit: number): Promise<Row[]> {
  const rows: Row[] = [];
  const order = orderText(keys);
  for (const condition of conditionsAfter(keys, place)) {
    if (rows.length >= limit) break;
    rows.push(...(await find(query, both(query.where, condition), order, 0, limit - rows.length)));
  }
  return rows;
}

async function placeOfRow({ context, className }: BlockQuery, keys: readonly SeekKey[], objectId: string): Promise<Place> {
  const names = keys.map(({ name }) => name);
  const row = await unless(['objectNotFound'], null, () => getRow(context, className, objectId, { keys: names }));
  return row ? placeOf(row, keys) : refuse('the cursor', 'stands for a row that is gone');
}

const find = ({ context, className, keys }: BlockQuery, where: JsonObject, order: string, skip: number, limit: number) =>
  limit === 0 ? Promise.resolve([]) : findRows(context, className, { where, keys, order, skip, limit });

const both = (where: JsonObject, condition: JsonObject): JsonObject =>
  Object.keys(where).length === 0 ? condition : { $and: [where, condition] };

function placed(rows: readonly Row[], keys: readonly SeekKey[]): Block {
  const cursor = (row: Row | undefined): Cursor | null => (row ? { kind: 'place', place: placeOf(row, keys) } : null);
  return { rows, first: cursor(rows[0]), last: cursor(rows.at(-1)) };
}

function counted(rows: readonly Row[], skip: number): Block {
  const cursor = (at: number): Cursor | null => (rows.length > 0 ? { kind: 'position', position: skip + at } : null);
  return { rows, first: cursor(0), last: cursor(rows.length - 1) };
}
