import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { DAY_MS, WEEK_MS } from '../../kernel/time.ts';
import { offsetIn } from '../time/time-zone.ts';
import { wireDate } from '../wire/values.ts';

/** Bucket sizes of dates. Weeks begin on Sunday. */
export const dateBuckets = ['day', 'week', 'month', 'quarter', 'year'] as const;
export type DateBucket = (typeof dateBuckets)[number];

/** From a Sunday to the Thursday on which Unix time begins. */
const TO_SUNDAY = 4 * DAY_MS;
const EPOCH = wireDate(0);

/** A change of a zone's offset. */
interface Jump {
  readonly at: number;
  /** Milliseconds added to the offset from UTC. */
  readonly by: number;
}

/** The offsets of a zone from UTC during a time span. */
export interface ZoneOffsets {
  readonly base: number;
  /** In chronological order. */
  readonly jumps: readonly Jump[];
}

/** Range for which the time zone database has reliable data. */
const FIRST = Date.UTC(1900, 0, 1);
const LAST = Date.UTC(2100, 0, 1);

/**
 * Returns the offsets of a zone between two instants, in milliseconds since 1970.
 * @param maxJumps only the latest are returned; times before the first of them use the offset that preceded it
 */
export function offsetsBetween(zone: string, from: number, to: number, maxJumps: number): ZoneOffsets {
  const [start, end] = [Math.max(from, FIRST), Math.min(to, LAST)];
  const jumps: Jump[] = [];
  let at = start;
  let offset = offsetIn(zone, at);
  while (at < end) {
    const next = Math.min(at + WEEK_MS, end);
    const then = offsetIn(zone, next);
    if (then !== offset) jumps.push({ at: jumpBetween(zone, at, next), by: then - offset });
    [at, offset] = [next, then];
  }
  const kept = jumps.slice(Math.max(jumps.length - maxJumps, 0));
  const base = offset - kept.reduce((sum, { by }) => sum + by, 0);
  return { base, jumps: kept };
}

function jumpBetween(zone: string, from: number, to: number): number {
  const before = offsetIn(zone, from);
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetIn(zone, middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * Returns the expressions that compute the number of a Date's bucket in an aggregation (aggregation.md#expressions), one per step so that no
 * subexpression is repeated. `nameOfBucket` converts the number.
 * @param before reference to the result of the previous step
 */
export function bucketSteps(bucket: DateBucket, field: string, { base, jumps }: ZoneOffsets, before: string): JsonValue[] {
  const date = `$${field}`;
  const ahead = jumps.map(({ at, by }): JsonValue => ({ $cond: [{ $gte: [date, wireDate(at)] }, by, 0] }));
  const local = { $add: [date, base, ...ahead] };
  const month = { $add: [{ $multiply: [{ $year: before }, 12] }, { $month: before }, -1] };
  switch (bucket) {
    case 'day':
      return [local, { $subtract: [before, EPOCH] }, floored(before, DAY_MS)];
    case 'week':
      return [local, { $add: [{ $subtract: [before, EPOCH] }, TO_SUNDAY] }, floored(before, WEEK_MS)];
    case 'month':
      return [local, month];
    case 'quarter':
      return [local, month, floored(before, 3)];
    case 'year':
      return [local, { $year: before }];
  }
}

/** Floor division, also for negative values. */
function floored(value: string, unit: number): JsonObject {
  const rest = { $mod: [{ $add: [{ $mod: [value, unit] }, unit] }, unit] };
  return { $divide: [{ $subtract: [value, rest] }, unit] };
}

/** Returns `2026-01-31` (for a week its Sunday), `2026-01`, `2026-Q1` or `2026`; `null` without a Date. */
export function nameOfBucket(bucket: DateBucket, number: JsonValue | undefined): string | null {
  if (typeof number !== 'number') return null;
  switch (bucket) {
    case 'day':
      return dayOf(number * DAY_MS);
    case 'week':
      return dayOf(number * WEEK_MS - TO_SUNDAY);
    case 'month':
      return `${yearText(Math.floor(number / 12))}-${String((number % 12) + 1).padStart(2, '0')}`;
    case 'quarter':
      return `${yearText(Math.floor(number / 4))}-Q${(number % 4) + 1}`;
    case 'year':
      return yearText(number);
  }
}

const dayOf = (at: number): string => new Date(at).toISOString().replace(/T.*/, '');
const yearText = (year: number): string => String(year).padStart(4, '0');
