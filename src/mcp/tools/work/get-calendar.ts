import type { JsonObject } from '../../../kernel/json.ts';
import { flag, localTime, names } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { headOf } from '../../kit/answers/page.ts';
import { badArguments } from '../../kit/answers/refusals.ts';
import { callerId, requireUser } from '../../kit/people/users.ts';
import { briefOf } from '../../kit/reading/brief.ts';
import { namesOf } from '../../kit/reading/names.ts';
import {
  ACTIVITIES,
  activitiesIn,
  activityFields,
  calendarHint,
  freeIn,
  MOST_ACTIVITIES,
  type Occupied,
  type Span,
  shownSpan,
} from '../../kit/time/calendar.ts';
import { endIn, instantIn, shownRange } from '../../kit/time/range.ts';
import { timeZoneOf } from '../../kit/time/time-zone.ts';
import { workingTime } from '../../kit/time/working-hours.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MOST_DAYS = 92;
const MOST_OWNERS = 50;
/** Shorter times are no slots. */
const LEAST_SLOT = 15 * 60_000;
const NARROW = 'Ask for a shorter range, or fewer owners.';

export const getCalendar = defineTool({
  name: 'Get-Calendar',
  group: 'work',
  description:
    'Activities in a range of up to 92 days, of all or of ownerIds; or the free slots of each owner within working hours.',
  input: { from: localTime(), to: localTime(), ownerIds: names(MOST_OWNERS).optional(), freeSlots: flag().default(false) },
  needs: ['mcp:view'],
  effect: 'read',
  about: ACTIVITIES,
  async run(call, { from, to, ownerIds = [], freeSlots }) {
    const zone = await timeZoneOf(call);
    const range: Span = { start: instantIn(zone, from), end: endIn(zone, to) };
    if (range.end <= range.start) badArguments('to must be after from');
    if (range.end - range.start > MOST_DAYS * DAY + HOUR) badArguments(`from and to must be at most ${MOST_DAYS} days apart`);
    if (!freeSlots) return hinted(call, await activitiesOf(call, zone, range, ownerIds));
    const owners = ownersFor(call, ownerIds);
    await Promise.all(owners.map((owner) => requireUser(call, 'ownerIds', owner)));
    return hinted(call, await slotsOf(call, zone, range, owners));
  },
});

function hinted(call: ToolCall, answer: JsonObject): JsonObject {
  const hints = [answer.hint, calendarHint(call)].filter((hint) => hint !== undefined);
  return hints.length > 0 ? { ...answer, hint: hints.join(' ') } : answer;
}

async function activitiesOf(call: ToolCall, zone: string, range: Span, ownerIds: readonly string[]): Promise<JsonObject> {
  const found = await activitiesIn(call, zone, range, ownerIds.length > 0 ? ownerIds : undefined);
  const shown = found.map(({ row }) => briefOf(row, activityFields));
  return { ...headOf(shown, MOST_ACTIVITIES, NARROW), ...shownEnds(range), timeZone: zone };
}

const shownEnds = ({ start, end }: Span): JsonObject => shownRange({ from: start, to: end, isToWithin: false });

function ownersFor(call: ToolCall, ownerIds: readonly string[]): readonly string[] {
  const own = callerId(call);
  if (ownerIds.length > 0) return [...new Set(ownerIds)];
  return own === undefined ? badArguments('freeSlots takes ownerIds', { next: 'Get-all-Users' }) : [own];
}

async function slotsOf(call: ToolCall, zone: string, range: Span, owners: readonly string[]): Promise<JsonObject> {
  const [occupied, { source, spans }, names] = await Promise.all([
    activitiesIn(call, zone, range, owners),
    workingTime(call, zone, range),
    namesOf(call, '_User', owners),
  ]);
  if (occupied.length > MOST_ACTIVITIES) badArguments(`there are more than ${MOST_ACTIVITIES} activities`, { expected: NARROW });
  const taken = Map.groupBy(occupied, ({ ownerId }: Occupied) => ownerId);
  const shown = owners.map((ownerId) => ({
    ownerId,
    Name: names.get(ownerId) || null,
    free: freeIn(spans, taken.get(ownerId) ?? [], LEAST_SLOT).map(shownSpan),
  }));
  return { ...headOf(shown, shown.length, NARROW), ...shownEnds(range), timeZone: zone, workingHours: source };
}
