import { nextCronRun, parseCron } from '../../kernel/cron.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { Schedule } from '../model/model.ts';
import { excerpt, filledText, objectOf, optionalText, refuse } from './assertions.ts';

/** 29 February may be eight years away, since some century years are not leap years. */
const MAX_WAIT_MS = 9 * 366 * DAY_MS;
export const MAX_CRON_LENGTH = 500;
export const MAX_ZONE_LENGTH = 100;

/** Valid time zones met so far, to avoid repeated look-ups. */
const zones = new Set<string>();

/**
 * Parses a schedule: cron with 5 fields, or 6 with seconds.
 * Reference: triggers.md#schedules.
 * @throws invalidTrigger (107)
 */
export function readSchedule(value: JsonValue): Schedule {
  const sent = objectOf(value, 'schedule', ['cron', 'timezone']);
  const cron = filledText(sent, 'cron', 'schedule.', MAX_CRON_LENGTH).trim().split(/\s+/).join(' ');
  const timezone = optionalText(sent, 'timezone', 'schedule.', MAX_ZONE_LENGTH) ?? 'UTC';
  if (!isZone(timezone)) refuse(`schedule.timezone is no IANA time zone: ${excerpt(timezone)}`);
  const fields = cron.split(' ').length;
  if (fields !== 5 && fields !== 6) refuse('schedule.cron has not 5 or 6 fields');
  const schedule = { cron, timezone };
  return parse(schedule) ? schedule : refuse(`schedule.cron cannot be read: ${excerpt(cron)}`);
}

/** Asserts that a schedule has a next run. @throws invalidTrigger (107) */
export function checkRuns(schedule: Schedule, now: number): void {
  const next = nextRun(schedule, now);
  if (next === null || next - now > MAX_WAIT_MS) refuse('schedule.cron has no run within the next eight years');
}

/** Returns the next run of a schedule, as `nextCronRun`. @param after milliseconds since 1970 */
export function nextRun(schedule: Schedule, after: number): number | null {
  const cron = parse(schedule);
  return cron && nextCronRun(cron, after);
}

const parse = ({ cron, timezone }: Schedule) => parseCron(cron, timezone);

/** Offsets such as `+02:00` are not accepted, because they have no daylight saving time. */
function isZone(name: string): boolean {
  if (zones.has(name)) return true;
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    return false;
  }
  // Bounds the set: there are some 600 zones, but each may be written in different cases.
  if (zones.size < 1_000) zones.add(name);
  return true;
}
