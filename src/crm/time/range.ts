import type { JsonObject } from '../../kernel/json.ts';
import { DAY_MS, isoText } from '../../kernel/time.ts';
import { parseIsoDate } from '../../values/index.ts';
import type { CrmContext } from '../context.ts';
import { wireDate } from '../wire/values.ts';
import { instantOfClock, timeZoneOf } from './time-zone.ts';

/** Both ends in milliseconds since 1970. */
export interface TimeRange {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Whether `to` itself is in the range. */
  readonly isToWithin: boolean;
}

/** The ends of a range as texts, which name a zone or are of the system's. */
export interface Ends {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const withZone = /T.*(?:Z|[+-]\d\d:\d\d)$/;
const isDay = (text: string): boolean => !text.includes('T');

/** The instant, in milliseconds since 1970, that an argument names; without a zone it is of the system's. @param text as `localTime()` takes it */
export const instantOfArgument = async (context: CrmContext, text: string): Promise<number> =>
  instantIn(await timeZoneOf(context), text);

/** The same in a zone that is known. */
export const instantIn = (zone: string, text: string): number =>
  withZone.test(text) ? clockOf(text) : instantOfClock(zone, clockOf(text));

/** The end of a range: of a day alone the beginning of the next one. */
export const endIn = (zone: string, text: string): number =>
  isDay(text) ? instantOfClock(zone, clockOf(text) + DAY_MS) : instantIn(zone, text);

/** What clocks show, as if they showed UTC. */
const clockOf = (text: string): number => parseIsoDate(text) ?? Number.NaN;

/** The range between two arguments: a day alone is the whole day, as the last one too. @param isToWithin whether a `to` with a time is part of it */
export const rangeOf = async (context: CrmContext, ends: Ends, isToWithin = false): Promise<TimeRange> =>
  rangeIn(await timeZoneOf(context), ends, isToWithin);

/** The same in a zone that is known. */
export function rangeIn(zone: string, { from, to }: Ends, isToWithin = false): TimeRange {
  return {
    from: from === undefined ? undefined : instantIn(zone, from),
    to: to === undefined ? undefined : endIn(zone, to),
    isToWithin: isToWithin && to !== undefined && !isDay(to),
  };
}

/** The constraint of a Date within a range; empty where there is none. */
export const constraintOf = ({ from, to, isToWithin }: TimeRange): JsonObject => ({
  ...(from !== undefined && { $gte: wireDate(from) }),
  ...(to !== undefined && { [isToWithin ? '$lte' : '$lt']: wireDate(to) }),
});

/** A range as a `where` about a field. */
export function during(field: string, range: TimeRange): JsonObject {
  const constraint = constraintOf(range);
  return Object.keys(constraint).length > 0 ? { [field]: constraint } : {};
}

/** The instants of a range, as an answer tells what was asked for. */
export const shownRange = ({ from, to }: TimeRange): JsonObject => ({
  ...(from !== undefined && { from: isoText(from) }),
  ...(to !== undefined && { to: isoText(to) }),
});
