import type { JsonObject } from '../../kernel/json.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { CrmContext } from '../context.ts';
import { namesOf } from '../queries/names.ts';
import { badArguments } from '../refusals.ts';
import { activitiesIn, MAX_ACTIVITIES, type Occupied, type Span, spanToJson } from './events.ts';
import { workingTime } from './working-hours.ts';

/** Shorter intervals are not offered as slots. */
const MIN_SLOT_MS = 15 * MINUTE_MS;

/** Free slots of several owners. */
export interface FreeSlots {
  readonly owners: readonly JsonObject[];
  /** Source of the working hours. */
  readonly workingHours: string;
}

/**
 * Returns the intervals of a range in which each owner is free, within working hours.
 * @param hint expected form for the error
 * @throws invalidArguments (107) for more than `MAX_ACTIVITIES` activities; permissionDenied (119)
 */
export async function freeSlots(
  context: CrmContext,
  zone: string,
  range: Span,
  owners: readonly string[],
  hint: string,
): Promise<FreeSlots> {
  const [occupied, { source, spans }, names] = await Promise.all([
    activitiesIn(context, zone, range, owners),
    workingTime(context, zone, range),
    namesOf(context, '_User', owners),
  ]);
  if (occupied.length > MAX_ACTIVITIES) badArguments(`there are more than ${MAX_ACTIVITIES} activities`, { expected: hint });
  const taken = Map.groupBy(occupied, ({ ownerId }: Occupied) => ownerId);
  const shown = owners.map((ownerId) => ({
    ownerId,
    Name: names.get(ownerId) || null,
    free: freeIn(spans, taken.get(ownerId) ?? [], MIN_SLOT_MS).map(spanToJson),
  }));
  return { owners: shown, workingHours: source };
}

/** Subtracts the taken intervals from the open ones and drops remainders shorter than `minMs`. */
function freeIn(open: readonly Span[], taken: readonly Span[], minMs: number): Span[] {
  const busy = [...taken].sort((a, b) => a.start - b.start);
  const free: Span[] = [];
  for (const { start, end } of open) {
    let at = start;
    for (const one of busy) {
      if (one.end <= at || one.start >= end) continue;
      if (one.start - at >= minMs) free.push({ start: at, end: one.start });
      at = Math.max(at, one.end);
    }
    if (end - at >= minMs) free.push({ start: at, end });
  }
  return free;
}
