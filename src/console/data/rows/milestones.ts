import { findRows } from '../../../crm/queries/records.ts';
import type { BlockQuery } from './block.ts';
import { placeOf, textLength } from './cursor.ts';
import type { Landmark } from './landmarks.ts';
import { orderText, type SeekKey } from './order.ts';

// Where an index alone does not tell which row stands at a position, since there are rows that the caller may not read, or a filter, engines look
// into half a table for each jump. Going through all of it once tells each so many-th row.

const MAX_MILESTONES = 250;
/** Characters of texts that a place may have which is kept: there are many. */
const MAX_PLACE_LENGTH = 150;

/**
 * Rows at regular distances, all over the rows that match.
 * @param total how many match, about
 * @param near rows that are counted off in no time: milestones need not be closer
 * @throws what `findRows` throws
 */
export async function findMilestones(
  { context, className, where }: BlockQuery,
  keys: readonly SeekKey[],
  total: number,
  near: number,
): Promise<Landmark[]> {
  const stride = Math.max(Math.ceil(near / 2), Math.ceil(total / MAX_MILESTONES), 1);
  const names = keys.map(({ name }) => name);
  // Records may have come since they were counted.
  const limit = 2 * MAX_MILESTONES;
  const rows = await findRows(context, className, { where, keys: names, order: orderText(keys), stride, limit });
  const marks = rows.map((row, at) => ({ position: (at + 1) * stride - 1, place: placeOf(row, keys) }));
  return marks.filter(({ place }) => textLength(place) <= MAX_PLACE_LENGTH);
}
