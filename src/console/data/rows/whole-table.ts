import { master } from '../../../access/index.ts';
import type { CrmContext } from '../../../crm/context.ts';
import { grantOn } from '../../../crm/queries/field-visibility.ts';
import { aggregateRows, countRows, tableNamed } from '../../../crm/queries/records.ts';
import { isoOf } from '../../../crm/wire/values.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { TableSchema } from '../../../schema/model.ts';
import type { BlockQuery } from './block.ts';
import { placeOf } from './cursor.ts';
import type { Landmark } from './landmarks.ts';
import { type SeekKey, turned } from './order.ts';

// Where the caller may read every record of a table, his rows are the table's. An index alone tells then which of them stands at a position;
// else the engine has to look into each record before it, to see whether it is his. The place that is found so is where reading as the caller
// begins; nothing of it is answered. This holds as long as nothing is written to the table: a record that is not the caller's would move
// positions, which tells where it stands in the order.

const inWhole = (context: CrmContext): CrmContext => ({ ...context, principal: master });

/** Whether an index has every record of a table in the order of a field. */
export const isOrdered = ({ indexes }: TableSchema, name: string): boolean =>
  name === 'createdAt' || [...indexes.values()].some(({ keys }) => keys.length === 1 && keys[0]?.[0] === name);

/** Whether a count is that of the whole table: then there is no record that the caller may not read. */
export const isWhole = async (context: CrmContext, className: string, where: JsonObject, count: number): Promise<boolean> =>
  Object.keys(where).length === 0 && (await countRows(inWhole(context), className)) === count;

/**
 * A row at a position, or a place shortly before it; `null` where no index tells.
 * @param total of the table, from the end of which it may be nearer
 */
export async function wholeTableMark(
  query: BlockQuery,
  keys: readonly SeekKey[],
  position: number,
  total: number,
): Promise<Landmark | null> {
  const { className } = query;
  const context = inWhole(query.context);
  const [first, second] = keys;
  const { masks } = grantOn(query.context, className, 'find');
  if (!first || second?.name !== 'objectId' || keys.length > 2 || masks.has(first.name) || position >= total) return null;
  if (!isOrdered(tableNamed(context, className), first.name)) return null;
  const isNearEnd = position > total / 2;
  const skip = isNearEnd ? total - 1 - position : position;
  const ordered = isNearEnd ? turned(keys) : keys;
  if (first.name === 'createdAt') return markByTime(context, className, keys, ordered.slice(0, 1), skip);
  const row = await rowAt(context, className, ordered, skip);
  return row && { position, place: placeOf(row, keys) };
}

/** Greater than every text that an id may be. */
const LAST_TEXT = '\u{10ffff}';

/** The index has no ids: before the first of those that were created in the same millisecond. */
async function markByTime(
  context: CrmContext,
  className: string,
  keys: readonly SeekKey[],
  ordered: readonly SeekKey[],
  skip: number,
): Promise<Landmark | null> {
  const iso = isoOf((await rowAt(context, className, ordered, skip))?.createdAt);
  if (iso === undefined) return null;
  const time = { __type: 'Date', iso };
  const before = await countRows(context, className, { createdAt: keys[0]?.isDescending ? { $gt: time } : { $lt: time } });
  return { position: before - 1, place: [iso, keys[1]?.isDescending ? LAST_TEXT : ''], isBetween: true };
}

/** What a row has in the fields that the rows are ordered by, and nothing else: what is not in the index has the engine look into records. */
async function rowAt(
  context: CrmContext,
  className: string,
  ordered: readonly SeekKey[],
  skip: number,
): Promise<JsonObject | null> {
  const shown = Object.fromEntries(ordered.map(({ name }) => [name, 1]));
  const pipeline: JsonObject[] = [
    { sort: Object.fromEntries(ordered.map(({ name, isDescending }) => [name, isDescending ? -1 : 1])) },
    { skip },
    { limit: 1 },
    { project: { objectId: 0, ...shown } },
  ];
  const [row] = await aggregateRows(context, className, pipeline);
  return row ?? null;
}
