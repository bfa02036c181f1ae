import type { JsonObject } from '../../kernel/json.ts';
import { DAY_MS, isoText } from '../../kernel/time.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { has } from '../queries/field-visibility.ts';
import { ownerField, userPointer } from '../queries/owners.ts';
import { findRows, hasField, type Row, requireField, tableNamed } from '../queries/records.ts';
import { briefly } from '../queries/summary.ts';
import { addDays, dayIn, startOfDay } from '../time/time-zone.ts';
import { instantOf, pointedAt, wireDate } from '../wire/values.ts';

export const ACTIVITIES = 'Activities';

/** A half-open time interval, in milliseconds since 1970. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** An activity with its time interval and owner. */
export interface Occupied extends Span {
  readonly ownerId: string | undefined;
  readonly row: Row;
}

/** Maximum number of activities read for one range. */
export const MAX_ACTIVITIES = 2_000;
/** A whole day in any zone begins and ends within this distance of the UTC day. */
const DAY_OVERLAP_MS = 2 * DAY_MS;

/** Fields of an activity that are shown. */
export const activityFields = ['Name', 'StartTime', 'EndTime', 'AllDay', 'Location', 'OwnerId', 'AccountId', 'MeetingUrl'];

/** Returns the table of activities. @throws classMissing (103); invalidArguments (107) if it lacks a field that a calendar needs */
export function activitiesTable(context: CrmContext): TableSchema {
  const table = tableNamed(context, ACTIVITIES);
  requireField(table, 'StartTime', 'Date');
  requireField(table, 'EndTime', 'Date');
  return table;
}

/**
 * Returns the activities of a range, by start. Cancelled ones are left out if the caller may query that field.
 * Reads at most `MAX_ACTIVITIES` + 1 rows: the additional one shows that there are more.
 * @param owners user ids; all owners if absent
 * @throws permissionDenied (119)
 */
export async function activitiesIn(
  context: CrmContext,
  zone: string,
  range: Span,
  owners?: readonly string[],
): Promise<Occupied[]> {
  const table = activitiesTable(context);
  const owner = owners ? ownerField(context, table) : 'OwnerId';
  const from = wireDate(range.start);
  const wide = wireDate(range.start - DAY_OVERLAP_MS);
  const where: JsonObject = {
    ...(owners && { [owner]: { $in: owners.map(userPointer) } }),
    StartTime: { $lt: wireDate(range.end) },
    $or: [
      { EndTime: { $gt: from } },
      { EndTime: { $exists: false }, StartTime: { $gte: from } },
      { StartTime: { $gte: from } },
      ...(has(context, table, 'AllDay', 'Boolean')
        ? [
            { AllDay: true, StartTime: { $gte: wide } },
            { AllDay: true, EndTime: { $gt: wide } },
          ]
        : []),
    ],
    ...(has(context, table, 'Cancelled', 'Boolean') && { Cancelled: { $ne: true } }),
  };
  const rows = await findRows(context, ACTIVITIES, {
    ...briefly(context, table, activityFields),
    where,
    order: 'StartTime',
    limit: MAX_ACTIVITIES + 1,
  });
  return rows
    .map((row) => ({ ...spanOf(row, zone), ownerId: pointedAt(row[owner]), row }))
    .filter((span) => overlaps(span, range));
}

/** Returns a hint naming the properties of activities that are hidden from the caller and therefore ignored; `undefined` if none is. */
export function calendarHint(context: CrmContext): string | undefined {
  const table = activitiesTable(context);
  const isHidden = ([name]: readonly [string, string]) =>
    hasField(context, ACTIVITIES, name, 'Boolean') && !has(context, table, name, 'Boolean');
  const hidden = marks.filter(isHidden).map(([, words]) => words);
  return hidden.length === 0
    ? undefined
    : `Which activities ${hidden.join(', and which ')} is hidden from you: they count as any other.`;
}

const marks = [
  ['Cancelled', 'are cancelled'],
  ['AllDay', 'take the whole day'],
] as const;

/** Returns the interval of an activity. An all-day one covers every day that it touches. */
function spanOf(row: Row, zone: string): Span {
  const start = instantOf(row.StartTime) ?? 0;
  const end = Math.max(instantOf(row.EndTime) ?? start, start);
  if (row.AllDay !== true) return { start, end };
  const last = dayIn(zone, end > start ? end - 1 : end);
  return { start: startOfDay(zone, dayIn(zone, start)), end: startOfDay(zone, addDays(last, 1)) };
}

/** Whether an interval, possibly empty, overlaps a range. */
const overlaps = ({ start, end }: Span, range: Span): boolean =>
  start < range.end && (end > range.start || (end === start && start >= range.start));

/** The interval in ISO 8601. */
export const spanToJson = ({ start, end }: Span): JsonObject => ({
  start: isoText(start),
  end: isoText(end),
});
