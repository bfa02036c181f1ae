const nonDigits = /\D+/g;
/** The country prefix that stands for the leading zero of the national form. */
const country = '972';
/** Longer than any number, and short enough for an index. */
const MAX_DIGITS = 1_000;
/** Maximum number of characters of a text with a number. */
const MAX_LENGTH = 10_000;

/**
 * Returns the key by which phones are compared: their digits, a leading 972 read as 0. Every notation of a number has the same key.
 * Reference: functions.md#getlead.
 * @returns `null` for a text without digits, with more than a thousand of them, or of more than ten thousand characters; it equals no number
 */
export function phoneKey(text: string): string | null {
  if (text.length > MAX_LENGTH) return null;
  const digits = digitsOf(text);
  if (digits === '' || digits.length > MAX_DIGITS) return null;
  return digits.startsWith(country) ? `0${digits.slice(country.length)}` : digits;
}

/** Returns the ASCII digits of a text. */
export function digitsOf(text: string): string {
  return text.replace(nonDigits, '');
}
