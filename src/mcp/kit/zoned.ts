import { tzOffset } from '@date-fns/tz';
import type { JsonObject } from '../../kernel/json.ts';
import { parseIsoDate } from '../../values/index.ts';
import { wireDate } from './records.ts';

/** Milliseconds by which a zone is ahead of UTC at an instant. */
export const offsetIn = (zone: string, at: number): number => tzOffset(zone, new Date(at)) * 60_000;

/** The instant at which clocks of a zone show a time of a day. @param day as `2026-01-31` @param time as `09:00` or `09:00:30` */
export function instantAt(zone: string, day: string, time: string): number {
  const utc = Date.parse(`${day}T${time.length === 5 ? `${time}:00` : time}Z`);
  // The offset at that very time, found in two steps, since it may change in between.
  return utc - offsetIn(zone, utc - offsetIn(zone, utc));
}

/** A Date in wire form of an argument that is an instant; one without a zone is in UTC. */
export const wireInstant = (text: string): JsonObject => wireDate(parseIsoDate(text) ?? 0);
