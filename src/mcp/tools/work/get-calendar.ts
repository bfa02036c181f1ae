import type { JsonObject } from '../../../kernel/json.ts';
import { parseIsoDate } from '../../../values/index.ts';
import { briefOf } from '../../kit/brief.ts';
import {
  ACTIVITIES,
  activitiesIn,
  activityFields,
  freeIn,
  MOST_ACTIVITIES,
  type Occupied,
  type Span,
  shownSpan,
} from '../../kit/calendar.ts';
import { fit, RESULT_BYTES } from '../../kit/page.ts';
import { callerId, requireUser } from '../../kit/people.ts';
import { badArguments } from '../../kit/records.ts';
import { timeZoneOf } from '../../kit/time-zone.ts';
import { titlesOf } from '../../kit/titles.ts';
import { workingTime } from '../../kit/working-hours.ts';
import { flag, instant, names } from '../parameters.ts';
import { defineTool, type ToolCall } from '../tool.ts';

const DAY = 86_400_000;
const MOST_DAYS = 92;
const MOST_OWNERS = 50;
/** Shorter times are no slots. */
const LEAST_SLOT = 15 * 60_000;
const FRAME_BYTES = 2_000;
const NARROW = 'Ask for a shorter range, or fewer owners.';

export const getCalendar = defineTool({
  name: 'Get-Calendar',
  group: 'work',
  description:
    'Activities in a range of up to 92 days, of all or of ownerIds; or the free slots of each owner within working hours.',
  input: { from: instant(), to: instant(), ownerIds: names(MOST_OWNERS).optional(), freeSlots: flag().default(false) },
  needs: ['mcp:view'],
  effect: 'read',
  about: ACTIVITIES,
  async run(call, { from, to, ownerIds = [], freeSlots }) {
    const range: Span = { start: parseIsoDate(from) ?? 0, end: parseIsoDate(to) ?? 0 };
    if (range.end <= range.start) badArguments('to must be after from');
    if (range.end - range.start > MOST_DAYS * DAY) badArguments(`from and to must be at most ${MOST_DAYS} days apart`);
    const zone = await timeZoneOf(call);
    if (!freeSlots) return activitiesOf(call, zone, range, ownerIds);
    const owners = ownersFor(call, ownerIds);
    await Promise.all(owners.map((owner) => requireUser(call, 'ownerIds', owner)));
    return slotsOf(call, zone, range, owners);
  },
});

async function activitiesOf(call: ToolCall, zone: string, range: Span, ownerIds: readonly string[]): Promise<JsonObject> {
  const found = await activitiesIn(call, zone, range, ownerIds.length > 0 ? ownerIds : undefined);
  const shown = found.slice(0, MOST_ACTIVITIES).map(({ row }) => briefOf(row, activityFields));
  const results = shown.slice(0, fit(shown, RESULT_BYTES - FRAME_BYTES));
  return { results, timeZone: zone, ...(results.length < found.length && { truncated: true, hint: NARROW }) };
}

function ownersFor(call: ToolCall, ownerIds: readonly string[]): readonly string[] {
  const own = callerId(call);
  if (ownerIds.length > 0) return [...new Set(ownerIds)];
  return own === undefined ? badArguments('freeSlots takes ownerIds', { next: 'Get-all-Users' }) : [own];
}

async function slotsOf(call: ToolCall, zone: string, range: Span, owners: readonly string[]): Promise<JsonObject> {
  const [occupied, { source, spans }, names] = await Promise.all([
    activitiesIn(call, zone, range, owners),
    workingTime(call, zone, range),
    titlesOf(call, '_User', owners),
  ]);
  if (occupied.length > MOST_ACTIVITIES) badArguments(`there are more than ${MOST_ACTIVITIES} activities`, { expected: NARROW });
  const taken = Map.groupBy(occupied, ({ ownerId }: Occupied) => ownerId);
  const shown = owners.map((ownerId) => ({
    ownerId,
    Name: names.get(ownerId) ?? null,
    free: freeIn(spans, taken.get(ownerId) ?? [], LEAST_SLOT).map(shownSpan),
  }));
  const results = shown.slice(0, fit(shown, RESULT_BYTES - FRAME_BYTES));
  const isCut = results.length < shown.length;
  return { results, timeZone: zone, workingHours: source, ...(isCut && { truncated: true, hint: NARROW }) };
}
