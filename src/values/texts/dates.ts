import { parseIsoDate } from '../json/iso.ts';

/** Orders of day, month and year in dates that are not ISO. */
export const dateOrders = ['dmy', 'mdy', 'ymd'] as const;
export type DateOrder = (typeof dateOrders)[number];

const numbers = /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?:[ ,T]+(\d{1,2}):(\d\d)(?::(\d\d))?)?$/;
/** Years of two digits from here on are of the 20th century. */
const FIRST_OF_LAST_CENTURY = 70;

/** Whether a text may be a date whose order has to be known. */
export const isDateLike = (text: string): boolean => numbers.test(text.trim());

/**
 * Parses a date: ISO 8601, also with a space before the time, or three numbers with an optional time, in UTC. Without an order it is parsed if
 * only one order gives a valid date, or all give the same.
 * @returns milliseconds since 1970; `null` if it is no date
 */
export function readDateText(text: string, order: DateOrder | undefined): number | 'ambiguous' | null {
  const trimmed = text.trim();
  const iso = parseIsoDate(trimmed.replace(/^(\d{4}-\d\d-\d\d) +(?=\d)/, '$1T'));
  if (iso !== null) return iso;
  const parts = numbers.exec(trimmed);
  if (!parts) return null;
  // A year of four digits at the beginning is unambiguous.
  const tried = order === undefined ? dateOrders : (parts[1] ?? '').length === 4 ? ['ymd' as const] : [order];
  const found = new Set(tried.map((one) => instantOf(parts, one)).filter((instant) => instant !== null));
  if (found.size > 1) return 'ambiguous';
  const [only] = found;
  return only ?? null;
}

function instantOf([, a = '', , b = '', c = '', hour = '0', minute = '00', second = '00']: RegExpExecArray, order: DateOrder) {
  const [year, month, day] = order === 'ymd' ? [a, b, c] : order === 'dmy' ? [c, b, a] : [c, a, b];
  if (year.length % 2 !== 0 || month.length > 2 || day.length > 2) return null;
  const two = (digits: string) => digits.padStart(2, '0');
  return parseIsoDate(`${wholeYear(year)}-${two(month)}-${two(day)}T${two(hour)}:${minute}:${second}Z`);
}

function wholeYear(digits: string): string {
  if (digits.length === 4) return digits;
  return `${Number(digits) < FIRST_OF_LAST_CENTURY ? 20 : 19}${digits}`;
}
