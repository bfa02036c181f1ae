import { Cron } from 'croner';

/**
 * Parses a cron of 5 fields, 6 with seconds.
 * @param timezone IANA name
 * @returns `null` if it is invalid. Question marks are refused: they would mean the time at which the cron is parsed.
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
 * Returns when a cron is due next. A time of day that the clock skips, when summer time starts, is due at the jump; one that occurs twice, when
 * summer time ends, is due once.
 * @param after milliseconds since 1970
 * @returns milliseconds since 1970, a whole second; `null`: never again
 */
export function nextCronRun(cron: Cron, after: number): number | null {
  return cron.nextRun(new Date(after))?.getTime() ?? null;
}
