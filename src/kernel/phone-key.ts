const nonDigits = /\D+/g;
/** The country whose prefix stands for the leading zero of the national form. */
const country = '972';
/** No number has nearly as many digits, and an index takes not many more. */
const MAX_DIGITS = 1_000;
/** Characters of a text that can be a number. */
const MAX_LENGTH = 10_000;

/**
 * What a telephone number is compared by: its digits, a leading 972 read as 0 (SPEC "`getlead`": duplicate detection). Every stored form of
 * a number has the same key (CONTRACT "Forms and files").
 * @returns `null` for a text without digits, of more than a thousand or ten thousand characters, which is like no number
 */
export function phoneKey(text: string): string | null {
  if (text.length > MAX_LENGTH) return null;
  const digits = digitsOf(text);
  if (digits === '' || digits.length > MAX_DIGITS) return null;
  return digits.startsWith(country) ? `0${digits.slice(country.length)}` : digits;
}

/** The ASCII digits of a text. */
export function digitsOf(text: string): string {
  return text.replace(nonDigits, '');
}
