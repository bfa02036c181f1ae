/** Durations in milliseconds. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const WEEK_MS = 7 * DAY_MS;

const digits = Array.from({ length: 1000 }, (_, n) => String(n));
const two = digits.slice(0, 100).map((n) => n.padStart(2, '0'));
const three = digits.map((n) => n.padStart(3, '0'));
const dayText = new Map<number, string>();

/**
 * Returns the ISO 8601 text of an instant, like `Date.prototype.toISOString`, which is ten times slower:
 * lists write two or more of them for every row.
 * @param instant milliseconds since 1970, within the range of Date
 */
export function isoText(instant: number): string {
  const day = Math.floor(instant / DAY_MS);
  let date = dayText.get(day);
  if (date === undefined) {
    if (dayText.size > 10_000) dayText.clear();
    date = new Date(day * DAY_MS).toISOString().slice(0, -13);
    dayText.set(day, date);
  }
  let rest = instant - day * DAY_MS;
  const milliseconds = rest % 1000;
  rest = (rest - milliseconds) / 1000;
  const seconds = rest % 60;
  rest = (rest - seconds) / 60;
  const minutes = rest % 60;
  const hours = (rest - minutes) / 60;
  return `${date}${two[hours]}:${two[minutes]}:${two[seconds]}.${three[milliseconds]}Z`;
}
