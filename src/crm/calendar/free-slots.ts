import type { JsonObject } from '../../kernel/json.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { CrmContext } from '../context.ts';
import { namesOf } from '../queries/names.ts';
import { badArguments } from '../refusals.ts';
import { activitiesIn, MAX_ACTIVITIES, type Occupied, type Span, shownSpan } from './events.ts';
import { workingTime } from './working-hours.ts';

/** Shorter times are no slots. */
const MIN_SLOT_MS = 15 * MINUTE_MS;

/** The free slots of some owners. */
export interface FreeSlots {
  readonly owners: readonly JsonObject[];
  /** Where the working hours are known from. */
  readonly workingHours: string;
}

/**
 * The times of a range in which owners are free, within working hours.
 * @param hint for the refusal
 * @throws invalidArguments (107) where there are more activities than are looked at; permissionDenied (119)
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
    free: freeIn(spans, taken.get(ownerId) ?? [], MIN_SLOT_MS).map(shownSpan),
  }));
  return { owners: shown, workingHours: source };
}

/** What is left of times that are open when those that are taken are cut out. */
function freeIn(open: readonly Span[], taken: readonly Span[], least: number): Span[] {
  const busy = [...taken].sort((a, b) => a.start - b.start);
  const free: Span[] = [];
  for (const { start, end } of open) {
    let at = start;
    for (const one of busy) {
      if (one.end <= at || one.start >= end) continue;
      if (one.start - at >= least) free.push({ start: at, end: one.start });
      at = Math.max(at, one.end);
    }
    if (end - at >= least) free.push({ start: at, end });
  }
  return free;
}
