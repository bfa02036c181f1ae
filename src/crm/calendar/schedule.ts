import { mayView } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { runExclusive } from '../commands/exclusive.ts';
import { createRow } from '../commands/records.ts';
import type { CrmContext } from '../context.ts';
import { linksTo } from '../customers/links.ts';
import { callerId, ownerField, ownerFields, requireUser, userPointer } from '../queries/owners.ts';
import { accessErrors, badArguments, unless } from '../refusals.ts';
import { instantIn } from '../time/range.ts';
import { timeZoneOf } from '../time/time-zone.ts';
import { wireDate } from '../wire/values.ts';
import { ACTIVITIES, activitiesIn, activitiesTable, calendarHint, type Occupied, type Span, spanToJson } from './events.ts';

/** Maximum number of conflicts listed. */
const MAX_SHOWN = 5;

/** A new activity. Times without a zone are in the system's time zone. */
export interface Appointment {
  readonly name: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly accountId?: string | undefined;
  /** The caller if absent. */
  readonly ownerId?: string | undefined;
  readonly location?: string | undefined;
  /** Whether the owner may have another activity at the same time. */
  readonly allowConflict: boolean;
}

/**
 * Creates an activity in the calendar of its owner.
 * @throws invalidArguments (107) with the conflicts if the owner is busy, and for a user that does not exist; permissionDenied (119)
 */
export async function scheduleActivity(context: CrmContext, appointment: Appointment): Promise<JsonObject> {
  const { name: Name, startTime, endTime, accountId, ownerId = callerId(context), location, allowConflict } = appointment;
  const zone = await timeZoneOf(context);
  const span: Span = { start: instantIn(zone, startTime), end: instantIn(zone, endTime) };
  if (span.end <= span.start) badArguments('endTime must be after startTime');
  const table = activitiesTable(context);
  const data: JsonObject =
    accountId === undefined ? {} : await linksTo(context, table, { table: 'Accounts', objectId: accountId });
  const times = { StartTime: wireDate(span.start), EndTime: wireDate(span.end) };
  const create = (held: CrmContext) =>
    createRow(held, ACTIVITIES, { Name, ...times, ...(location !== undefined && { Location: location }), ...data });
  let conflicts: readonly Occupied[] | null = [];
  let hint: string | undefined;
  const book = async (held: CrmContext, owner: string) => {
    conflicts = await conflictsOf(held, zone, span, owner);
    if (conflicts) hint = calendarHint(context);
    if (conflicts && conflicts.length > 0 && !allowConflict) refuse(context, conflicts);
    return create(held);
  };
  const isOwned = ownerId !== undefined && ownerFields(table).length > 0;
  if (isOwned) {
    await requireUser(context, 'ownerId', ownerId);
    data[ownerField(context, table)] = userPointer(ownerId);
  }
  const created = await (isOwned
    ? runExclusive(context, `${ACTIVITIES} ${ownerId}`, (held) => book(held, ownerId))
    : create(context));
  return {
    ...created,
    ...times,
    ...data,
    // The tool requires the permission to create only; calendar content additionally requires the permission to view.
    conflicts: mayView(context.principal) ? (conflicts ?? []).slice(0, MAX_SHOWN).map(shown) : (conflicts ?? []).length,
    ...(conflicts === null && { hidden: [ACTIVITIES] }),
    ...(hint !== undefined && { hint }),
  };
}

/** Returns the conflicting activities, or `null` if the caller may not read activities. */
async function conflictsOf(context: CrmContext, zone: string, span: Span, ownerId: string): Promise<readonly Occupied[] | null> {
  return unless(accessErrors, null, () => activitiesIn(context, zone, span, [ownerId]));
}

const shown = (one: Occupied): JsonObject => ({ objectId: one.row.objectId, Name: one.row.Name ?? null, ...spanToJson(one) });

function refuse(context: CrmContext, conflicts: readonly Occupied[]): never {
  if (!mayView(context.principal)) badArguments('the owner is busy', { expected: 'Another time, or allowConflict true' });
  const texts = conflicts.slice(0, MAX_SHOWN).map(({ row, start, end }) => {
    const times = spanToJson({ start, end });
    return `${row.objectId} "${String(row.Name ?? '')
      .slice(0, 100)
      .toWellFormed()}" ${times.start} to ${times.end}`;
  });
  const more = conflicts.length > MAX_SHOWN ? ` and ${conflicts.length - MAX_SHOWN} more` : '';
  return badArguments(`the owner is busy: ${texts.join('; ')}${more}`, {
    expected: 'Another time, or allowConflict true',
    next: 'Get-Calendar with freeSlots',
  });
}
