import { countRows, tableNamed } from '../../../crm/queries/records.ts';
import { type Block, type BlockQuery, blockAt, blockBesidePlace, type Side } from './block.ts';
import { Landmarks } from './landmarks.ts';
import { findMilestones } from './milestones.ts';
import type { SeekKey } from './order.ts';
import type { Place } from './seek.ts';
import { isOrdered, isWhole, wholeTableMark } from './whole-table.ts';

/** Rows that are counted off as a user in some hundredths of a second, wide records and cold ones too. From the beginning positions are exact. */
const MAX_NEAR = 2_000;

/** The part of a table that is counted off at once: to find milestones takes about as long as to count all of it. */
const MAX_COUNTED_OFF = 1 / 20;

/** Where rows are counted off from: a known row, or an end. */
interface Start {
  readonly place: Place | null;
  readonly side: Side;
  /** Rows that are passed over. */
  readonly distance: number;
  readonly limit: number;
}

/**
 * The rows after so many. To a distant position it goes from the nearest row whose position is known, or from the end where the number of
 * all is known: engines count a million rows off for a second or more.
 * @param near up to which position it counts off from the beginning
 */
export async function jump(query: BlockQuery, skip: number, near = MAX_NEAR): Promise<Block> {
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
  if (first?.kind === 'place') landmarks.passed(text, { position: skip, place: first.place });
  if (last?.kind === 'place') landmarks.passed(text, { position: skip + block.rows.length - 1, place: last.place });
  return block;
}

/** Notes the whole number where it is not known, and whose records they are. */
export async function count(
  { context, className, where }: Pick<BlockQuery, 'context' | 'className' | 'where'>,
  near = MAX_NEAR,
): Promise<number> {
  const landmarks = Landmarks.of(context, className, where);
  if (!landmarks) return countRows(context, className, where);
  return landmarks.count(async () => {
    const total = await countRows(context, className, where);
    return { total, isWhole: total > near && (await isWhole(context, className, where, total)) };
  });
}

/** Notes rows that are nearer to a position: one where an index alone tells, else some all over the table. */
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
  // It may have been found by a record that came meanwhile.
  const mark = landmarks.isWhole ? found : null;
  const isFar = distance > Math.max(near, total * MAX_COUNTED_OFF);
  if (mark) landmarks.passed(query.order.text, mark);
  else if (isFar && isInIndex(query, keys))
    await landmarks.placeMilestones(query.order.text, () => findMilestones(query, keys, total, near));
}

/** Whether an index leads from a milestone to the rows after it; else each jump goes through the table anyway. */
const isInIndex = ({ context, className }: BlockQuery, [key]: readonly SeekKey[]): boolean =>
  key !== undefined && isOrdered(tableNamed(context, className), key.name);

function nearest(landmarks: Landmarks, order: string, skip: number, limit: number): Start {
  let best: Start = { place: null, side: 'after', distance: skip, limit };
  const consider = (start: Start) => {
    if (start.distance >= 0 && start.distance < best.distance) best = start;
  };
  const { total } = landmarks;
  if (total !== undefined && total > skip) {
    const most = Math.min(limit, total - skip);
    consider({ place: null, side: 'before', distance: total - skip - most, limit: most });
  }
  for (const { position, place, isBetween } of landmarks.marks(order)) {
    const next = isBetween ? position + 1 : position;
    consider({ place, side: 'after', distance: skip - position - 1, limit });
    consider({ place, side: 'before', distance: next - skip - limit, limit });
  }
  return best;
}
