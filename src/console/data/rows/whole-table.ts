import { master } from '../../../access/index.ts';
import type { CrmContext } from '../../../crm/context.ts';
import { grantOn } from '../../../crm/queries/field-visibility.ts';
import { aggregateRows, countRows, findRows, tableNamed } from '../../../crm/queries/records.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { TableSchema } from '../../../schema/model.ts';
import type { BlockQuery } from './block.ts';
import { placeOf } from './cursor.ts';
import type { Landmark } from './landmarks.ts';
import { orderText, type SeekKey, turned } from './order.ts';

// Where the caller may read every record of a table, his rows are the table's. An index alone tells then which of them stands at a position;
// else the engine has to look into each record before it, to see whether it is his. The place that is found so is where reading as the caller
// begins; nothing of it is answered.

const inWhole = (context: CrmContext): CrmContext => ({ ...context, principal: master });

/** Whether an index has every record of a table in the order of a field. */
const isOrdered = ({ indexes }: TableSchema, name: string): boolean =>
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
  const ordered = isNearEnd ? turned(keys) : keys;
  const skip = isNearEnd ? total - 1 - position : position;
  return first.name === 'createdAt'
    ? markByTime(context, className, keys, ordered, skip)
    : markByKeys(context, className, ordered, skip, position);
}

async function markByKeys(
  context: CrmContext,
  className: string,
  ordered: readonly SeekKey[],
  skip: number,
  position: number,
): Promise<Landmark | null> {
  const names = ordered.map(({ name }) => name);
  const [row] = await findRows(context, className, { keys: names, order: orderText(ordered), skip, limit: 1 });
  return row ? { position, place: placeOf(row, ordered) } : null;
}

/** Greater than every text that an id may be. */
const LAST_TEXT = '\u{10ffff}';

/** The index has no ids: before the first of those that were created in the same millisecond. */
async function markByTime(
  context: CrmContext,
  className: string,
  keys: readonly SeekKey[],
  [ordered]: readonly SeekKey[],
  skip: number,
): Promise<Landmark | null> {
  const pipeline: JsonObject[] = [
    { sort: { createdAt: ordered?.isDescending ? -1 : 1 } },
    { skip },
    { limit: 1 },
    { project: { createdAt: 1, objectId: 0 } },
  ];
  const [row] = await aggregateRows(context, className, pipeline);
  if (typeof row?.createdAt !== 'string') return null;
  const isDescending = keys[0]?.isDescending === true;
  const time = { __type: 'Date', iso: row.createdAt };
  const before = await countRows(context, className, { createdAt: isDescending ? { $gt: time } : { $lt: time } });
  return { position: before - 1, place: [row.createdAt, keys[1]?.isDescending ? LAST_TEXT : ''], isBetween: true };
}
