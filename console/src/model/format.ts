import type { JsonValue } from '../../../src/kernel/json.ts';
import { dateOf } from './values.ts';

/** Formats of numbers and times for a language and a system. */
export interface Format {
  number(value: number): string;
  /** `05.10.2026`, or `5 Oct 2026`; with the time unless it is midnight in the system's zone. */
  date(date: Date): string;
  /** Always with the time. */
  moment(date: Date): string;
  /** `3 minutes ago`. */
  ago(date: Date, now?: number): string;
  list(items: readonly string[]): string;
  compare(a: string, b: string): number;
}

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['week', 7 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/**
 * @param locale `he-IL` or `en-GB`.
 * @param timeZone the system's IANA name; a zone unknown to this browser counts as UTC.
 * @param justNow the text for the last minute.
 */
export function formatOf(locale: string, timeZone: string, justNow: string): Format {
  const isHebrew = locale.startsWith('he');
  const zone = knownZone(timeZone);
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 10 });
  const day = new Intl.DateTimeFormat(
    locale,
    isHebrew
      ? { timeZone: zone, day: '2-digit', month: '2-digit', year: 'numeric' }
      : { timeZone: zone, day: 'numeric', month: 'short', year: 'numeric' },
  );
  const time = new Intl.DateTimeFormat(locale, { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const list = new Intl.ListFormat(locale, { type: 'unit', style: 'short' });
  const collator = new Intl.Collator(locale, { numeric: true, sensitivity: 'base' });
  const dateText = (date: Date) => (isHebrew ? dotted(day, date) : day.format(date));
  const moment = (date: Date) => `${dateText(date)}, ${time.format(date)}`;
  return {
    number: (value) => number.format(value),
    date: (date) => (time.format(date) === '00:00' ? dateText(date) : moment(date)),
    moment,
    ago: (date, now = Date.now()) => {
      const past = date.getTime() - now;
      const [unit, length] = UNITS.find(([, length]) => Math.abs(past) >= length) ?? [];
      // Hebrew locale data contain `לפני שעה (1)`.
      return unit && length ? relative.format(Math.round(past / length), unit).replace(/\s*\(1\)/, '') : justNow;
    },
    list: (items) => list.format(items),
    compare: collator.compare,
  };
}

/** Returns the text of a value that needs no names: Dates, numbers, texts. */
export function plainText(value: JsonValue, format: Format): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return format.number(value);
  const date = dateOf(value);
  return date ? format.date(date) : JSON.stringify(value);
}

function dotted(day: Intl.DateTimeFormat, date: Date): string {
  const parts = day.formatToParts(date);
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  return `${of('day')}.${of('month')}.${of('year')}`;
}

/** Returns the zone, or UTC if this browser does not know it. */
export function knownZone(timeZone: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return timeZone;
  } catch {
    return 'UTC';
  }
}
