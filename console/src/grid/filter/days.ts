import {
  type CalendarDate,
  endOfMonth,
  endOfWeek,
  endOfYear,
  parseAbsolute,
  parseDate,
  startOfMonth,
  startOfWeek,
  startOfYear,
  toCalendarDate,
  toZoned,
} from '@internationalized/date';

/** Days named by a word, the last two with a number of days. */
export const DAY_WORDS = [
  'today',
  'yesterday',
  'tomorrow',
  'thisWeek',
  'lastWeek',
  'thisMonth',
  'lastMonth',
  'thisYear',
  'lastDays',
  'nextDays',
] as const;
export type DayWord = (typeof DAY_WORDS)[number];

/** The clock of a system: words mean different days in different zones. */
export interface Clock {
  readonly timeZone: string;
  readonly nowMs: number;
}

/** Whole days, as `YYYY-MM-DD`, both ends included. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** Weeks begin on Sunday. */
const FIRST_DAY = 'sun';
const LOCALE = 'he-IL';

export const isDayWord = (word: string): word is DayWord => (DAY_WORDS as readonly string[]).includes(word);

/** Returns the day of an instant. */
export function dayOf(iso: string, timeZone: string): string {
  return toCalendarDate(parseAbsolute(iso, timeZone)).toString();
}

/** Returns the first instant of a day. */
export function startOfDay(day: string, timeZone: string): string {
  return toZoned(parseDate(day), timeZone).toDate().toISOString();
}

/** Returns the first instant after a day. */
export function endOfDay(day: string, timeZone: string): string {
  return startOfDay(parseDate(day).add({ days: 1 }).toString(), timeZone);
}

export const dayBefore = (day: string) => parseDate(day).subtract({ days: 1 }).toString();

/** @param count of `lastDays` (today is the last of them) and `nextDays` (tomorrow is the first) */
export function daysOf(word: DayWord, count: number, clock: Clock): Days {
  const today = todayOf(clock);
  const days = (from: CalendarDate, to: CalendarDate) => ({ from: from.toString(), to: to.toString() });
  switch (word) {
    case 'today':
      return days(today, today);
    case 'yesterday':
      return days(today.subtract({ days: 1 }), today.subtract({ days: 1 }));
    case 'tomorrow':
      return days(today.add({ days: 1 }), today.add({ days: 1 }));
    case 'thisWeek':
      return days(startOfWeek(today, LOCALE, FIRST_DAY), endOfWeek(today, LOCALE, FIRST_DAY));
    case 'lastWeek': {
      const start = startOfWeek(today, LOCALE, FIRST_DAY).subtract({ days: 7 });
      return days(start, start.add({ days: 6 }));
    }
    case 'thisMonth':
      return days(startOfMonth(today), endOfMonth(today));
    case 'lastMonth': {
      const start = startOfMonth(today).subtract({ months: 1 });
      return days(start, endOfMonth(start));
    }
    case 'thisYear':
      return days(startOfYear(today), endOfYear(today));
    case 'lastDays':
      return days(today.subtract({ days: Math.max(0, count - 1) }), today);
    case 'nextDays':
      return days(today.add({ days: 1 }), today.add({ days: Math.max(1, count) }));
  }
}

function todayOf(clock: Clock): CalendarDate {
  return dayIn(new Date(clock.nowMs).toISOString(), clock.timeZone);
}

const dayIn = (iso: string, timeZone: string) => toCalendarDate(parseAbsolute(iso, timeZone));
