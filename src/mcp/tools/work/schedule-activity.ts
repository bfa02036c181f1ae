import { mayView } from '../../../access/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { flag, localTime, objectId, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { badArguments, unless, unseen } from '../../kit/answers/refusals.ts';
import { linksTo } from '../../kit/crm/links.ts';
import { callerId, ownerField, ownerFields, requireUser, userPointer } from '../../kit/people/users.ts';
import {
  ACTIVITIES,
  activitiesIn,
  activitiesTable,
  calendarHint,
  type Occupied,
  type Span,
  shownSpan,
} from '../../kit/time/calendar.ts';
import { instantIn } from '../../kit/time/range.ts';
import { timeZoneOf } from '../../kit/time/time-zone.ts';
import { wireDate } from '../../kit/values/wire.ts';
import { createRow } from '../../kit/writing/records.ts';
import { inTurn } from '../../kit/writing/turns.ts';

/** So many conflicts are told. */
const MOST_TOLD = 5;

export const scheduleActivity = defineTool({
  name: 'Schedule-Activity',
  group: 'work',
  description:
    'Put a meeting in the calendar, by default of the signed-in user; refused with the list of conflicts of its owner unless allowConflict.',
  input: {
    name: text(1_000),
    startTime: localTime(),
    endTime: localTime(),
    accountId: objectId().optional(),
    ownerId: objectId().optional(),
    location: text(1_000).optional(),
    allowConflict: flag().default(false),
  },
  needs: ['mcp:create'],
  effect: 'add',
  about: ACTIVITIES,
  async run(call, { name: Name, startTime, endTime, accountId, ownerId = callerId(call), location, allowConflict }) {
    const zone = await timeZoneOf(call);
    const span: Span = { start: instantIn(zone, startTime), end: instantIn(zone, endTime) };
    if (span.end <= span.start) badArguments('endTime must be after startTime');
    const table = activitiesTable(call);
    const data: JsonObject =
      accountId === undefined ? {} : await linksTo(call, table, { table: 'Accounts', objectId: accountId });
    const times = { StartTime: wireDate(span.start), EndTime: wireDate(span.end) };
    const create = (held: ToolCall) =>
      createRow(held, ACTIVITIES, { Name, ...times, ...(location !== undefined && { Location: location }), ...data });
    let conflicts: readonly Occupied[] | null = [];
    let hint: string | undefined;
    const book = async (held: ToolCall, owner: string) => {
      conflicts = await conflictsOf(held, zone, span, owner);
      if (conflicts) hint = calendarHint(call);
      if (conflicts && conflicts.length > 0 && !allowConflict) refuse(call, conflicts);
      return create(held);
    };
    const isOwned = ownerId !== undefined && ownerFields(table).length > 0;
    if (isOwned) {
      await requireUser(call, 'ownerId', ownerId);
      data[ownerField(call, table)] = userPointer(ownerId);
    }
    const created = await (isOwned ? inTurn(call, `${ACTIVITIES} ${ownerId}`, (held) => book(held, ownerId)) : create(call));
    return {
      ...created,
      ...times,
      ...data,
      // The tool asks for the permission to create; what is in a calendar is for those who may view.
      conflicts: mayView(call.principal) ? (conflicts ?? []).slice(0, MOST_TOLD).map(shown) : (conflicts ?? []).length,
      ...(conflicts === null && { hidden: [ACTIVITIES] }),
      ...(hint !== undefined && { hint }),
    };
  },
});

/** `null` where the caller may not read activities, and so not know of conflicts. */
async function conflictsOf(call: ToolCall, zone: string, span: Span, ownerId: string): Promise<readonly Occupied[] | null> {
  return unless(unseen, null, () => activitiesIn(call, zone, span, [ownerId]));
}

const shown = (one: Occupied): JsonObject => ({ objectId: one.row.objectId, Name: one.row.Name ?? null, ...shownSpan(one) });

function refuse(call: ToolCall, conflicts: readonly Occupied[]): never {
  if (!mayView(call.principal)) badArguments('the owner is busy', { expected: 'Another time, or allowConflict true' });
  const told = conflicts.slice(0, MOST_TOLD).map(({ row, start, end }) => {
    const times = shownSpan({ start, end });
    return `${row.objectId} "${String(row.Name ?? '')
      .slice(0, 100)
      .toWellFormed()}" ${times.start} to ${times.end}`;
  });
  const more = conflicts.length > MOST_TOLD ? ` and ${conflicts.length - MOST_TOLD} more` : '';
  return badArguments(`the owner is busy: ${told.join('; ')}${more}`, {
    expected: 'Another time, or allowConflict true',
    next: 'Get-Calendar with freeSlots',
  });
}
