import { parseRetention, type Retention } from '../../config/index.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts';

/** Parses a retention rule. @throws OperatorError */
export function retentionFrom(text: string, option: string): Retention {
  const retention = parseRetention(text);
  if (!retention) throw new OperatorError(`${option}: must be such as 48h,30d,12m`);
  return retention;
}

/**
 * Returns which backups of one system are kept: the newest of each of the last hours, days and months (UTC) of the rule, and the newest of all.
 * Reference: backup.md#scheduled-backups.
 * @param times in milliseconds since 1970
 * @param now its hour, day and month count as the last ones
 */
export function keptOf(times: readonly number[], { hours, days, months }: Retention, now: number): Set<number> {
  const kept = new Set<number>();
  if (times.length === 0) return kept;
  kept.add(times.reduce((newest, at) => Math.max(newest, at)));
  const keepNewestOfEach = (periodOf: (at: number) => number, count: number) => {
    const last = periodOf(now);
    const newestOf = new Map<number, number>();
    for (const at of times) {
      const period = periodOf(at);
      if (period > last - count) newestOf.set(period, Math.max(newestOf.get(period) ?? 0, at));
    }
    for (const at of newestOf.values()) kept.add(at);
  };
  keepNewestOfEach((at) => Math.floor(at / HOUR_MS), hours);
  keepNewestOfEach((at) => Math.floor(at / DAY_MS), days);
  keepNewestOfEach(monthOf, months);
  return kept;
}

function monthOf(at: number): number {
  const date = new Date(at);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
