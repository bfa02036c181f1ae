import { digitsOf, phoneKey } from '../../../kernel/phone-key.ts';
import type { DigitCipher } from './digit-cipher.ts';

const ascii = /[0-9]/g;

/** Digits of other scripts: `٠٥٠`, `０５０`. */
const otherDigit = /(?![0-9])\p{Nd}/u;
const otherDigits = new RegExp(otherDigit, 'gu');
const digit = /\p{Nd}/u;
const allDigits = /\p{Nd}/gu;

/**
 * Anonymises a text whose digits may be those of any script: as if they were ASCII, and each stays in its script.
 * @param anonymous replaces ASCII digits by as many others
 */
function inAscii(text: string, anonymous: (ascii: string) => string): string {
  if (!otherDigit.test(text)) return anonymous(text);
  const digits = digitsOf(anonymous(text.replace(otherDigits, (one) => String((one.codePointAt(0) as number) - zeroOf(one)))));
  let at = 0;
  return text.replace(allDigits, (one) => String.fromCodePoint(zeroOf(one) + Number(digits.charAt(at++))));
}

/** Returns the code point of the zero of a digit's script: digits stand in groups of ten (https://www.unicode.org/reports/tr44/#Numeric_Type). */
function zeroOf(one: string): number {
  const code = one.codePointAt(0) as number;
  let first = code;
  while (digit.test(String.fromCodePoint(first - 1))) first--;
  return code - ((code - first) % 10);
}

/** Replaces the digits of a text by as many others. */
function withDigits(text: string, digits: string): string {
  let at = 0;
  return text.replace(ascii, () => digits.charAt(at++));
}

/**
 * Anonymises a number of a person or company: every digit but leading zeros. Other characters stay, and texts with the same digits have the same
 * digits afterwards, as searches compare such numbers.
 */
export function anonymousDigits(cipher: DigitCipher, text: string): string {
  return inAscii(text, (ascii) => anonymousAscii(cipher, ascii));
}

function anonymousAscii(cipher: DigitCipher, text: string): string {
  const digits = digitsOf(text);
  const zeros = leadingZeros(digits);
  if (zeros === digits.length) return text;
  return withDigits(text, digits.slice(0, zeros) + cipher.encryptNumber(digits.slice(zeros), 'digits'));
}

/**
 * Anonymises a phone number and keeps its form: country code, leading zeros, area or operator, separators and length. Every notation of a number
 * becomes a notation of the same other number, both by `phoneKey` and by the rule of searches (agents.md#search-and-duplicates).
 */
export function anonymousPhone(cipher: DigitCipher, text: string): string {
  return inAscii(text, (ascii) => anonymousAsciiPhone(cipher, ascii));
}

function anonymousAsciiPhone(cipher: DigitCipher, text: string): string {
  const key = phoneKey(text)?.replace(/^00972/, '0');
  // No number: too long, or without digits.
  if (key === undefined) return anonymousAscii(cipher, text);
  // What all notations have in common. It is the end of the digits of each.
  const number = key.slice(leadingZeros(key));
  const kept = keptDigits(number);
  const digits = digitsOf(text);
  const start = digits.slice(0, digits.length - number.length);
  return withDigits(text, start + number.slice(0, kept) + cipher.encrypt(number.slice(kept), `phone ${number.slice(0, kept)}`));
}

/**
 * Number of first digits that stay: area or operator of a national number, else about the country. At least so many that no other rule applies to the
 * number afterwards: a number that begins with 9 could begin with 972 otherwise.
 */
function keptDigits(number: string): number {
  const wanted = number.startsWith('9') ? 3 : number.length >= 9 ? 2 : 1;
  return Math.min(wanted, number.length);
}

/** Anonymises a number of a Number field by the digits of its text; sign and exponent stay. */
export function anonymousNumber(anonymous: (text: string) => string, value: number): number {
  const [, sign = '', digits = '', exponent = ''] = /^(-?)([\d.]+)(.*)$/.exec(String(value)) ?? [];
  const changed = Number(sign + anonymous(digits) + exponent);
  return Number.isFinite(changed) ? changed : value;
}

const leadingZeros = (digits: string): number => /^0*/.exec(digits)?.[0].length ?? 0;
