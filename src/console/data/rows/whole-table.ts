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
import { reversed, type SeekKey } from './order.ts';

// If the caller may read every record of a table, its positions equal those of the whole table, and an index alone finds the row at a position;
// otherwise the engine must check each record before it. The place found serves only as the starting point of a read as the caller; nothing of it is
// returned. This is valid only until the next write: a record hidden from the caller would shift positions and so reveal where it stands in the
// order.

const inWhole = (context: CrmContext): CrmContext => ({ ...context, principal: master });

/** Whether an index contains every record of a table in the order of a field. */
export const isOrdered = ({ indexes }: TableSchema, name: string): boolean =>
  name === 'createdAt' || [...indexes.values()].some(({ keys }) => keys.length === 1 && keys[0]?.[0] === name);

/** Whether a count equals that of the whole table, i.e. no record is hidden from the caller. */
export const isWhole = async (context: CrmContext, className: string, where: JsonObject, count: number): Promise<boolean> =>
  Object.keys(where).length === 0 && (await countRows(inWhole(context), className)) === count;

/**
 * Returns the row at a position, or a place shortly before it; `null` if no index can find it.
 * @param total of the table, to read from the nearer end
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
  const ordered = isNearEnd ? reversed(keys) : keys;
  if (first.name === 'createdAt') return markByTime(context, className, keys, ordered.slice(0, 1), skip);
  const row = await rowAt(context, className, ordered, skip);
  return row && { position, place: placeOf(row, keys) };
}

/** Greater than any objectId. */
const LAST_TEXT = '\u{10ffff}';

/** The index on `createdAt` has no ids, so this returns a place before the first record of the same millisecond. */
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

/** Reads only the fields of the order, because any other column would make the engine read the records themselves. */
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
