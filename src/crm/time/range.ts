import type { JsonObject } from '../../kernel/json.ts';
import { DAY_MS, isoText } from '../../kernel/time.ts';
import { parseIsoDate } from '../../values/index.ts';
import type { CrmContext } from '../context.ts';
import { wireDate } from '../wire/values.ts';
import { instantOfClock, timeZoneOf } from './time-zone.ts';

/** Milliseconds since 1970. */
export interface TimeRange {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Whether `to` is inclusive. */
  readonly isToWithin: boolean;
}

/** The ends of a range as texts, with a zone or in the system's time zone. */
export interface Ends {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const withZone = /T.*(?:Z|[+-]\d\d:\d\d)$/;
const isDay = (text: string): boolean => !text.includes('T');

/** Returns the instant of an argument, in milliseconds since 1970 (agents.md#arguments). @param text as accepted by `localTime()` */
export const instantOfArgument = async (context: CrmContext, text: string): Promise<number> =>
  instantIn(await timeZoneOf(context), text);

/** The same for a known zone. */
export const instantIn = (zone: string, text: string): number =>
  withZone.test(text) ? clockOf(text) : instantOfClock(zone, clockOf(text));

/** Returns the end of a range; for a day alone, the start of the next day. */
export const endIn = (zone: string, text: string): number =>
  isDay(text) ? instantOfClock(zone, clockOf(text) + DAY_MS) : instantIn(zone, text);

/** Parses a local time as if it were UTC. */
const clockOf = (text: string): number => parseIsoDate(text) ?? Number.NaN;

/** Returns the range between two arguments; a day alone is the whole day. @param isToWithin whether a `to` with a time is inclusive */
export const rangeOf = async (context: CrmContext, ends: Ends, isToWithin = false): Promise<TimeRange> =>
  rangeIn(await timeZoneOf(context), ends, isToWithin);

/** The same for a known zone. */
export function rangeIn(zone: string, { from, to }: Ends, isToWithin = false): TimeRange {
  return {
    from: from === undefined ? undefined : instantIn(zone, from),
    to: to === undefined ? undefined : endIn(zone, to),
    isToWithin: isToWithin && to !== undefined && !isDay(to),
  };
}

/** Returns the constraint for a Date within the range; empty for an unbounded one. */
export const constraintOf = ({ from, to, isToWithin }: TimeRange): JsonObject => ({
  ...(from !== undefined && { $gte: wireDate(from) }),
  ...(to !== undefined && { [isToWithin ? '$lte' : '$lt']: wireDate(to) }),
});

/** Returns the `where` for a field within the range. */
export function during(field: string, range: TimeRange): JsonObject {
  const constraint = constraintOf(range);
  return Object.keys(constraint).length > 0 ? { [field]: constraint } : {};
}

/** The instants of a range, for answers. */
export const rangeToJson = ({ from, to }: TimeRange): JsonObject => ({
  ...(from !== undefined && { from: isoText(from) }),
  ...(to !== undefined && { to: isoText(to) }),
});
