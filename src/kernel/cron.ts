import { Cron } from 'croner';

/**
 * Reads a cron of 5 fields, 6 with seconds.
 * @param timezone IANA name
 * @returns `null` for what is none. A question mark would mean the second in which it is read.
 */
export function parseCron(cron: string, timezone: string): Cron | null {
  if (/[^0-9A-Za-z*,/#+ -]/.test(cron)) return null;
  try {
    return new Cron(cron, { timezone, mode: '5-or-6-parts' });
  } catch {
    return null;
  }
}

/**
 * When a cron is due next. A time of day that the clock passes over, when summer time begins, is due as it jumps; a single time of day that
 * comes twice, when it ends, is due once.
 * @param after milliseconds since 1970
 * @returns milliseconds since 1970, a whole second; `null`: never again
 */
export function nextCronRun(cron: Cron, after: number): number | null {
  return cron.nextRun(new Date(after))?.getTime() ?? null;
}
