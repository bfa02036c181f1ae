import { customAlphabet } from 'nanoid';

/** In the order of their bytes, by which indexes are sorted. */
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new objectId: 10 letters and digits from a cryptographic source (SPEC "Fields on every record"). */
export const newObjectId: () => string = customAlphabet(alphabet, 10);

/** A new id of the site layer: 24 hexadecimal characters (SPEC "Limits"). */
export const newSiteId: () => string = customAlphabet('0123456789abcdef', 24);

/** A new secret of 32 letters and digits, for keys and passwords that the service makes itself. */
export const newSecret: () => string = customAlphabet(alphabet, 32);

let lastWriteOrder = 0;

/** The number of a write in the order in which writes came to this process: to be taken on entry, before anything is awaited. */
export const nextWriteOrder = (): number => ++lastWriteOrder;

const BASE = alphabet.length;
/** Digits of the time, which last until 2081, and of the count within a millisecond. */
const TIME_DIGITS = 7;
const COUNT_DIGITS = 3;
const COUNTS_PER_MS = BASE ** COUNT_DIGITS;

let time = 0;
let timeText = '';
let count = 0;

/**
 * A new objectId: 10 letters and digits (SPEC "Limits"), each greater than the one before. The index of a table that takes a row for each
 * write then grows at its end, where random ids would change a page of it for every row: half of what a row costs.
 * @param now milliseconds since 1970
 */
export function newRowId(now: number): string {
  if (now > time) {
    time = now;
    timeText = digits(now, TIME_DIGITS);
    // Not from 0: should the clock go back between two starts, the same millisecond has other ids.
    count = Math.floor((Math.random() * COUNTS_PER_MS) / 2);
  } else if (++count === COUNTS_PER_MS) return newRowId(time + 1);
  return timeText + digits(count, COUNT_DIGITS);
}

function digits(value: number, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / BASE)) text = (alphabet[rest % BASE] as string) + text;
  return text;
}
