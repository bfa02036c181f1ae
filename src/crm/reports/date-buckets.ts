import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { DAY_MS, WEEK_MS } from '../../kernel/time.ts';
import { offsetIn } from '../time/time-zone.ts';
import { wireDate } from '../wire/values.ts';

/** What dates are put together by. Weeks begin on Sunday. */
export const dateBuckets = ['day', 'week', 'month', 'quarter', 'year'] as const;
export type DateBucket = (typeof dateBuckets)[number];

/** The days from a Sunday to the Thursday that time is counted from. */
const TO_SUNDAY = 4 * DAY_MS;
const EPOCH = wireDate(0);

/** A moment at which a zone's clock jumps. */
interface Jump {
  readonly at: number;
  /** Milliseconds that it is further ahead of UTC from then on. */
  readonly by: number;
}

/** How far a zone is ahead of UTC in a span of time. */
export interface ZoneOffsets {
  readonly base: number;
  /** In order. */
  readonly jumps: readonly Jump[];
}

/** Years that clocks are known for, more or less. */
const FIRST = Date.UTC(1900, 0, 1);
const LAST = Date.UTC(2100, 0, 1);

/**
 * The offsets of a zone from one instant to another.
 * @param most so many jumps, the latest; what was before them counts by the clock as it was until the first
 */
export function offsetsBetween(zone: string, from: number, to: number, most: number): ZoneOffsets {
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
  const kept = jumps.slice(Math.max(jumps.length - most, 0));
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
 * How an aggregation computes the number of the bucket that a Date falls into (CONTRACT "Records"), step by step, so that nothing is put
 * together twice; `nameOfBucket` reads it.
 * @param before refers to what the step before has made
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

/** How many whole units there are, those before the beginning too. */
function floored(value: string, unit: number): JsonObject {
  const rest = { $mod: [{ $add: [{ $mod: [value, unit] }, unit] }, unit] };
  return { $divide: [{ $subtract: [value, rest] }, unit] };
}

/** `2026-01-31`, of a week its Sunday; `2026-01`; `2026-Q1`; `2026`. `null` where there is no Date. */
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
