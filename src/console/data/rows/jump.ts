import { countRows, tableNamed } from '../../../crm/queries/records.ts';
import { type Block, type BlockQuery, blockAt, blockBesidePlace, type Side } from './block.ts';
import { Landmarks } from './landmarks.ts';
import { findMilestones } from './milestones.ts';
import type { SeekKey } from './order.ts';
import type { Place } from './seek.ts';
import { isOrdered, isWhole, wholeTableMark } from './whole-table.ts';

/** Maximum offset for plain counting: some hundredths of a second, even for wide and uncached rows. Offsets from the beginning are exact. */
const MAX_COUNTED_ROWS = 2_000;

/** Fraction of a table that is skipped by counting; beyond it, milestones are placed, which takes about as long as counting the whole table. */
const MAX_COUNTED_FRACTION = 1 / 20;

/** Starting point of a read: a row with a known position, or an end of the order. */
interface Start {
  readonly place: Place | null;
  readonly side: Side;
  /** Number of rows to skip. */
  readonly distance: number;
  readonly limit: number;
}

/**
 * Returns the rows at an offset. A distant offset is reached from the nearest row with a known position, or from the end if the total is known,
 * because engines take a second or more to skip a million rows.
 * @param near maximum offset that is counted from the beginning
 */
export async function jump(query: BlockQuery, skip: number, near = MAX_COUNTED_ROWS): Promise<Block> {
  const { keys, text } = query.order;
  const landmarks = keys && skip > near ? Landmarks.of(query.context, query.className, query.where) : null;
  if (!keys || !landmarks) return blockAt(query, skip);
  let start = nearest(landmarks, text, skip, query.limit);
  if (start.distance > near) {
    await findNearer(query, keys, landmarks, start.distance, skip, near);
    start = nearest(landmarks, text, skip, query.limit);
  }
  const { place, side, distance, limit } = start;
  const block = await blockBesidePlace({ ...query, limit }, keys, place, side, distance);
  const { first, last } = block;
  if (first?.kind === 'place') landmarks.record(text, { position: skip, place: first.place });
  if (last?.kind === 'place') landmarks.record(text, { position: skip + block.rows.length - 1, place: last.place });
  return block;
}

/** Counts matching records. Records the total, and whether it is that of the whole table, for later jumps. */
export async function count(
  { context, className, where }: Pick<BlockQuery, 'context' | 'className' | 'where'>,
  near = MAX_COUNTED_ROWS,
): Promise<number> {
  const landmarks = Landmarks.of(context, className, where);
  if (!landmarks) return countRows(context, className, where);
  return landmarks.count(async () => {
    const total = await countRows(context, className, where);
    return { total, isWhole: total > near && (await isWhole(context, className, where, total)) };
  });
}

/** Finds rows nearer to an offset: a single one if an index suffices, otherwise milestones across the table. */
async function findNearer(
  query: BlockQuery,
  keys: readonly SeekKey[],
  landmarks: Landmarks,
  distance: number,
  skip: number,
  near: number,
): Promise<void> {
  if (landmarks.total === undefined || (landmarks.wasWhole && !landmarks.isWhole)) await count(query, near);
  const { total = 0 } = landmarks;
  const found = landmarks.isWhole ? await wholeTableMark(query, keys, skip - 1, total) : null;
  // Rechecked, because a record inserted meanwhile would falsify the position.
  const mark = landmarks.isWhole ? found : null;
  const isFar = distance > Math.max(near, total * MAX_COUNTED_FRACTION);
  if (mark) landmarks.record(query.order.text, mark);
  else if (isFar && isInIndex(query, keys))
    await landmarks.placeMilestones(query.order.text, () => findMilestones(query, keys, total, near));
}

/** Whether an index can seek from a milestone; otherwise each jump reads the table anyway. */
const isInIndex = ({ context, className }: BlockQuery, [key]: readonly SeekKey[]): boolean =>
  key !== undefined && isOrdered(tableNamed(context, className), key.name);

function nearest(landmarks: Landmarks, order: string, skip: number, limit: number): Start {
  let best: Start = { place: null, side: 'after', distance: skip, limit };
  const consider = (start: Start) => {
    if (start.distance >= 0 && start.distance < best.distance) best = start;
  };
  const { total } = landmarks;
  if (total !== undefined && total > skip) {
    const size = Math.min(limit, total - skip);
    consider({ place: null, side: 'before', distance: total - skip - size, limit: size });
  }
  for (const { position, place, isBetween } of landmarks.marks(order)) {
    const next = isBetween ? position + 1 : position;
    consider({ place, side: 'after', distance: skip - position - 1, limit });
    consider({ place, side: 'before', distance: next - skip - limit, limit });
  }
  return best;
}
