import { tzOffset } from '@date-fns/tz';
import { type JsonObject, own } from '../../kernel/json.ts';
import { DAY_MS, isoText, MINUTE_MS } from '../../kernel/time.ts';
import { configFlag } from '../../records/index.ts';
import type { CrmContext } from '../context.ts';

const FLAG = 'TimeZone';
const UTC = 'UTC';

/** Returns the time zone of a system: the row `TimeZone` of `Config`, else UTC. Reference: system-tables.md#config. */
export async function timeZoneOf(context: CrmContext): Promise<string> {
  const value: JsonObject | null = await configFlag(context.store, FLAG);
  const named = value ? own(value, FLAG) : undefined;
  return typeof named === 'string' && isTimeZone(named) ? named : UTC;
}

/** Whether a text names a time zone of the IANA database. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Returns the offset of a zone from UTC at an instant, in milliseconds. */
export const offsetIn = (zone: string, at: number): number => Math.round(tzOffset(zone, new Date(at)) * MINUTE_MS);

/** Returns the instant of a local time. @param day as `2026-01-31` @param time as `09:00` or `09:00:30` */
export function instantAt(zone: string, day: string, time: string): number {
  return instantOfClock(zone, Date.parse(`${day}T${time.length === 5 ? `${time}:00` : time}Z`));
}

/**
 * The same for a local time in milliseconds, counted as if it were UTC. A repeated local time is its first occurrence. A skipped one uses the offset
 * before
 * the change, so that a day without midnight begins with its first instant.
 */
export function instantOfClock(zone: string, clock: number): number {
  const [before, after] = [clock - offsetIn(zone, clock - DAY_MS), clock - offsetIn(zone, clock + DAY_MS)];
  if (before === after || before + offsetIn(zone, before) === clock) return before;
  return after + offsetIn(zone, after) === clock ? after : before;
}

/** Returns the day of an instant in a zone, as `2026-01-31`. */
export function dayIn(zone: string, at: number): string {
  const local = isoText(at + offsetIn(zone, at));
  // Before year 0 and after 9999 the text is longer.
  return local[10] === 'T' ? local.slice(0, 10) : distantDay(zone, at);
}

/** The same for any year, about 20 times slower. */
const distantDay = (zone: string, at: number): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);

/** Returns the instant at which a day begins in a zone, in milliseconds since 1970. @param day as `2026-01-31` */
export const startOfDay = (zone: string, day: string): number => instantAt(zone, day, '00:00');

/** Adds days to a day. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
