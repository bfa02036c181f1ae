import { tzOffset } from '@date-fns/tz';
import { type JsonObject, own } from '../../kernel/json.ts';
import { configFlag } from '../../records/index.ts';
import type { ToolCall } from '../tools/tool.ts';

const FLAG = 'TimeZone';
const UTC = 'UTC';

/** The time zone of a system: the row `TimeZone` of `Config` (`{TimeZone: "Asia/Jerusalem"}`), else UTC. */
export async function timeZoneOf({ context }: ToolCall): Promise<string> {
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

const DAY = 86_400_000;

/** The day of an instant in a zone, as `2026-01-31`. */
export const dayIn = (zone: string, at: number): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);

/** The instant at which a day begins in a zone, in milliseconds since 1970. @param day as `2026-01-31` */
export function startOfDay(zone: string, day: string): number {
  const utc = Date.parse(`${day}T00:00:00Z`);
  // The offset at that very time, found in two steps, since it may change in between.
  let at = utc - offsetAt(zone, utc);
  at = utc - offsetAt(zone, at);
  return at;
}

/** The day so many days later. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY).toISOString().slice(0, 10);

/** Milliseconds by which a zone is ahead of UTC. */
const offsetAt = (zone: string, at: number): number => tzOffset(zone, new Date(at)) * 60_000;
