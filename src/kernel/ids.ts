import { customAlphabet } from 'nanoid';

/** In the order of their bytes, by which indexes are sorted. */
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns a new objectId: 10 letters and digits from a cryptographic source (records.md#system-fields). */
export const newObjectId: () => string = customAlphabet(alphabet, 10);

/** Returns a new id of the site tables: 24 hexadecimal characters (records.md#system-fields). */
export const newSiteId: () => string = customAlphabet('0123456789abcdef', 24);

/** Returns a new secret of 32 letters and digits, for generated keys and passwords. */
export const newSecret: () => string = customAlphabet(alphabet, 32);

let lastWriteOrder = 0;

/** Returns the number of a write in the order of arrival at this process. To be taken on entry, before anything is awaited. */
export const nextWriteOrder = (): number => ++lastWriteOrder;

const BASE = alphabet.length;
/** Digits of the time, sufficient until 2081, and of the counter within a millisecond. */
const TIME_DIGITS = 7;
const COUNT_DIGITS = 3;
const COUNTS_PER_MS = BASE ** COUNT_DIGITS;

let time = 0;
let timeText = '';
let count = 0;

/**
 * Returns a new objectId of 10 letters and digits, greater than the one before. The index of a table with a row for each write then grows at its
 * end; random ids would change one of its pages for every row, which is half the cost of a row.
 * @param now milliseconds since 1970
 */
export function newRowId(now: number): string {
  if (now > time) {
    time = now;
    timeText = digits(now, TIME_DIGITS);
    // Not from 0: if the clock is set back between two starts, ids of the same millisecond differ.
    count = Math.floor((Math.random() * COUNTS_PER_MS) / 2);
  } else if (++count === COUNTS_PER_MS) return newRowId(time + 1);
  return timeText + digits(count, COUNT_DIGITS);
}

function digits(value: number, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / BASE)) text = (alphabet[rest % BASE] as string) + text;
  return text;
}
