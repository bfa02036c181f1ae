/** Date alone, or date and time with optional seconds, fraction and zone; years outside 0000-9999 have a sign and six digits. */
const isoDate =
  /^(?:\d{4}|\+\d{6}|-(?!000000)\d{6})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

const MINUS = 45;

/**
 * Returns the instant of an ISO 8601 text in milliseconds since 1970; `null` if it is none. Texts without a zone are read as UTC, whatever the
 * zone of the machine; finer fractions than milliseconds are cut. Reference: types.md#date.
 */
export function parseIsoDate(text: string): number | null {
  if (text.length > 40 || !isoDate.test(text)) return null;
  const dateLength = text.charCodeAt(0) <= MINUS ? 13 : 10;
  if (!isDayOfMonth(text, dateLength)) return null;
  const zoned = text.length === dateLength || text.endsWith('Z') || text.charCodeAt(text.length - 6) <= MINUS;
  const instant = Date.parse(zoned ? text : `${text}Z`);
  return Number.isNaN(instant) ? null : instant;
}

/** Checks the day of the month, since Date.parse accepts 30 February as 1 March. */
function isDayOfMonth(text: string, dateLength: number): boolean {
  const day = (text.charCodeAt(dateLength - 2) - 48) * 10 + text.charCodeAt(dateLength - 1) - 48;
  if (day <= 28) return true;
  const year = Number(text.slice(0, dateLength - 6));
  const month = Number(text.slice(dateLength - 5, dateLength - 3));
  // Any leap year serves; Date.UTC takes years below 100 for those of the 20th century.
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return new Date(Date.UTC(leap ? 2000 : 2001, month - 1, day)).getUTCDate() === day;
}
