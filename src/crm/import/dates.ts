import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { parseIsoDate } from '../../values/index.ts';
import { instantIn } from '../time/range.ts';
import { instantAt, startOfDay } from '../time/time-zone.ts';
import { wireDate } from '../wire/values.ts';

/** The order of day and month in a column's dates: known if one of them can be read in one way only. */
export type DateForm = 'day first' | 'month first' | 'both' | undefined;

const withYear = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[ ,T]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/;

/** Derives the date format from the values of a column. */
export function dateFormOf(values: Iterable<JsonValue>): DateForm {
  let form: DateForm;
  for (const value of values) {
    const [, first, , second] = typeof value === 'string' ? (withYear.exec(value.trim()) ?? []) : [];
    const shows = Number(first) > 12 ? 'day first' : Number(second) > 12 ? 'month first' : undefined;
    if (shows !== undefined) form = form === undefined || form === shows ? shows : 'both';
  }
  return form;
}

const EXPECTED = 'a date: send YYYY-MM-DD, or DD/MM/YYYY';

/**
 * Reads a date of a flat row: ISO 8601 or DD/MM/YYYY. A day alone is midnight, and a time without a zone is a local time, in the system's time zone.
 * An ambiguous order of day and month is refused unless another date of the column decides it. Reference: agents.md#import-records.
 */
export function readDate(value: JsonValue, { zone, dates }: { readonly zone: string; readonly dates: DateForm }): Converted {
  if (isJsonObject(value)) return isWireDate(value) ? { value } : wrong(value, EXPECTED);
  if (typeof value !== 'string') return wrong(value, EXPECTED);
  const text = value.trim();
  const iso = text.replace(/^(\d{4}-\d\d-\d\d) +(?=\d)/, '$1T');
  if (parseIsoDate(iso) !== null) return { value: wireDate(instantIn(zone, iso)) };
  const [matched, first = '', , second = '', year = '', hour, minute, seconds = '00'] = withYear.exec(text) ?? [];
  if (matched === undefined) return wrong(value, EXPECTED);
  if (Number(second) > 12) return wrong(value, EXPECTED);
  if (dates !== 'day first' && Number(first) <= 12 && Number(first) !== Number(second))
    return wrong(
      value,
      `clear: day and month could be each other's. Send ${isoOr(year, second, first)} or ${isoOr(year, first, second)}`,
    );
  const day = isoOr(year, second, first);
  if (parseIsoDate(day) === null) return wrong(value, EXPECTED);
  if (hour === undefined || minute === undefined) return { value: wireDate(startOfDay(zone, day)) };
  const time = `${hour.padStart(2, '0')}:${minute}:${seconds}`;
  return parseIsoDate(`${day}T${time}`) === null ? wrong(value, EXPECTED) : { value: wireDate(instantAt(zone, day, time)) };
}

const isWireDate = ({ __type, iso }: JsonObject): boolean =>
  __type === 'Date' && typeof iso === 'string' && parseIsoDate(iso) !== null;

const isoOr = (year: string, month: string, day: string): string => `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;

/** A value in wire form, `null` for an empty one, or a fault. */
export type Converted = { readonly value: JsonValue } | { readonly fault: string } | null;

export function wrong(value: JsonValue, expected: string): { readonly fault: string } {
  return { fault: `${JSON.stringify(value).slice(0, 100).toWellFormed()} is not ${expected}` };
}
