import { findRows } from '../../../crm/queries/records.ts';
import type { BlockQuery } from './block.ts';
import { placeOf, textLength } from './cursor.ts';
import type { Landmark } from './landmarks.ts';
import { orderText, type SeekKey } from './order.ts';

// If some rows are hidden from the caller or filtered out, an index alone cannot find the row at a position, and engines read on average half the
// table per jump. One pass through the whole table finds every n-th row.

const MAX_MILESTONES = 250;
/** Maximum total length of strings in a stored place, because there are many. */
const MAX_PLACE_LENGTH = 150;

/**
 * Finds rows at regular distances among the matching rows.
 * @param total approximate number of matching rows
 * @param near number of rows that are skipped quickly; milestones need not be closer
 * @throws errors of `findRows`
 */
export async function findMilestones(
  { context, className, where }: BlockQuery,
  keys: readonly SeekKey[],
  total: number,
  near: number,
): Promise<Landmark[]> {
  const stride = Math.max(Math.ceil(near / 2), Math.ceil(total / MAX_MILESTONES), 1);
  const names = keys.map(({ name }) => name);
  // More than needed, because records may have been added since the count.
  const limit = 2 * MAX_MILESTONES;
  const rows = await findRows(context, className, { where, keys: names, order: orderText(keys), stride, limit });
  const marks = rows.map((row, at) => ({ position: (at + 1) * stride - 1, place: placeOf(row, keys) }));
  return marks.filter(({ place }) => textLength(place) <= MAX_PLACE_LENGTH);
}
