import type { JsonObject } from '../../kernel/json.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { CrmContext } from '../context.ts';
import { visibleFields } from '../queries/field-visibility.ts';
import { findRows, type Row, tableIfAny } from '../queries/records.ts';
import { accessErrors, unless } from '../refusals.ts';
import { addDays, dayIn, instantAt } from '../time/time-zone.ts';
import { instantOf, wireDate } from '../wire/values.ts';
import type { Span } from './events.ts';

/** Opening times of one day, as local clock times. */
interface Hours {
  readonly from: string;
  readonly to: string;
  readonly breaks?: readonly [from: string, to: string];
}

/** Working time and its source. */
export interface WorkingTime {
  readonly source: string;
  readonly spans: readonly Span[];
}

const defaultHours: Hours = { from: '09:00', to: '17:00' };
const SOURCE = 'WorkingHours';
const DEFAULT_HOURS_TEXT = 'Sunday to Thursday 09:00-17:00, since WorkingHours says nothing';
/** By day of the week as in the table, with Sunday as 1. */
const defaultDays: ReadonlyMap<number, Hours> = new Map([1, 2, 3, 4, 5].map((day) => [day, defaultHours]));
const MAX_ROWS = 1_000;

/** Returns the working time within a range: rows of `WorkingHours` that belong to no calendar, minus the days off of `Holidays`. */
export async function workingTime(context: CrmContext, zone: string, range: Span): Promise<WorkingTime> {
  const [week, holidays] = await Promise.all([weekOf(context), holidaysOf(context, zone, range)]);
  const spans: Span[] = [];
  const last = dayIn(zone, range.end - 1);
  for (let day = dayIn(zone, range.start); day <= last; day = addDays(day, 1)) {
    const hours = (week ?? defaultDays).get(new Date(`${day}T00:00:00Z`).getUTCDay() + 1);
    const holiday = holidays.get(day);
    if (hours && holiday !== 'off') spans.push(...spansOf(zone, day, hours, holiday));
  }
  const within = spans.map(({ start, end }) => ({ start: Math.max(start, range.start), end: Math.min(end, range.end) }));
  return { source: week ? SOURCE : DEFAULT_HOURS_TEXT, spans: within.filter(({ start, end }) => end > start) };
}

function spansOf(zone: string, day: string, { from, to, breaks }: Hours, closing: string | undefined): Span[] {
  const end = closing !== undefined && closing < to ? closing : to;
  const span = (start: string, stop: string): Span[] => {
    const until = stop < end ? stop : end;
    return start < until ? [{ start: instantAt(zone, day, start), end: instantAt(zone, day, until) }] : [];
  };
  return breaks ? [...span(from, breaks[0]), ...span(breaks[1], end)] : span(from, end);
}

/** Returns the hours by day of the week, or `null` if the system has no usable rows. */
async function weekOf(context: CrmContext): Promise<ReadonlyMap<number, Hours> | null> {
  const rows = await rowsOf(context, SOURCE, [
    'Weekday',
    'IsOpen',
    'StartTime',
    'EndTime',
    'BreakStart',
    'BreakEnd',
    'Active',
    'CalendarId',
  ]);
  const days = new Map<number, Hours>();
  const counted = rows.filter(
    ({ Active, CalendarId, Weekday }) => Active !== false && !CalendarId && typeof Weekday === 'number',
  );
  for (const row of counted) {
    const [from, to, pause, on] = [row.StartTime, row.EndTime, row.BreakStart, row.BreakEnd].map(clock);
    if (row.IsOpen === false || from === undefined || to === undefined) continue;
    days.set(Number(row.Weekday), { from, to, ...(pause !== undefined && on !== undefined && { breaks: [pause, on] as const }) });
  }
  return counted.length > 0 ? days : null;
}

/** By day: `off`, or the closing time of a short day. */
async function holidaysOf(context: CrmContext, zone: string, range: Span): Promise<ReadonlyMap<string, string>> {
  const after = wireDate(range.start - 2 * DAY_MS);
  const where = { Date: { $lt: wireDate(range.end + DAY_MS) }, $or: [{ Date: { $gte: after } }, { EndDate: { $gte: after } }] };
  const rows = await rowsOf(context, 'Holidays', ['Date', 'EndDate', 'IsDayOff', 'EndTime', 'Active', 'CalendarId'], where);
  const days = new Map<string, string>();
  for (const row of rows) {
    const first = dayOf(row.Date, zone);
    const last = dayOf(row.EndDate, zone) ?? first;
    const hours = row.IsDayOff === true ? 'off' : clock(row.EndTime);
    if (row.Active === false || row.CalendarId || first === undefined || last === undefined || hours === undefined) continue;
    const until = dayIn(zone, range.end);
    for (let day = first; day <= last && day <= until; day = addDays(day, 1)) if (days.get(day) !== 'off') days.set(day, hours);
  }
  return days;
}

/** Days are stored as midnight, either of UTC or of the zone. */
function dayOf(value: Row[string] | undefined, zone: string): string | undefined {
  const at = instantOf(value);
  if (at === undefined) return undefined;
  return at % DAY_MS === 0 ? new Date(at).toISOString().slice(0, 10) : dayIn(zone, at);
}

/** Returns a clock time as `HH:MM`; `undefined` for anything else. */
function clock(value: Row[string] | undefined): string | undefined {
  const [, hour = '', minute = ''] =
    typeof value === 'string' ? (/^\s*([01]?\d|2[0-4]):([0-5]\d)(?::\d\d)?\s*$/.exec(value) ?? []) : [];
  const time = `${hour.padStart(2, '0')}:${minute}`;
  return hour === '' || time > '24:00' ? undefined : time;
}

/** Returns the rows of a table; empty if it does not exist or the caller may not read it. */
async function rowsOf(context: CrmContext, className: string, fields: readonly string[], where?: JsonObject): Promise<Row[]> {
  const table = tableIfAny(context, className);
  if (!table) return [];
  const keys = ['objectId', ...visibleFields(context, table, fields)];
  return unless(accessErrors, [], () => findRows(context, className, { where, keys, limit: MAX_ROWS }));
}
