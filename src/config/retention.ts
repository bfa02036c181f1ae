/** How many backups are kept for each kind of period (backup.md#scheduled-backups). */
export interface Retention {
  readonly hours: number;
  readonly days: number;
  readonly months: number;
}

const form = /^(\d{1,5})([hdm])$/;
const names = { h: 'hours', d: 'days', m: 'months' } as const;

/** Parses `48h,30d,12m`; any part may be left out. @returns `null` if it is malformed */
export function parseRetention(text: string): Retention | null {
  const retention = { hours: 0, days: 0, months: 0 };
  const seen = new Set<string>();
  for (const item of text.split(',')) {
    const [, count, unit] = form.exec(item.trim()) ?? [];
    if (count === undefined || unit === undefined || seen.has(unit)) return null;
    seen.add(unit);
    retention[names[unit as 'h' | 'd' | 'm']] = Number(count);
  }
  return retention;
}
