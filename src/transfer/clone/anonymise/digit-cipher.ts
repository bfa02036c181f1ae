import { type KeyedHash, Memo } from './keyed-hash.ts';

/** As in FF1 (NIST SP 800-38G), whose construction this follows: an even number, after which the halves have their lengths again. */
const ROUNDS = 10;
/** Digits encrypted at once: numbers of this length, and sums of two, are exact. */
const MAX_DIGITS = 15;
/** Halves of up to this many digits have tables of their round function: a phone number then costs no hash. */
const MAX_TABLE_DIGITS = 5;
/**
 * What single digits are moved by: together, since there is no more to permute. Neither 0, which would leave all of them, nor 5, which would lead 5
 * over 0 back to itself.
 */
const singleShifts = [1, 2, 3, 4, 6, 7, 8, 9];
/** Tweaks whose hashes are kept. */
const MAX_TWEAKS = 20_000;

/**
 * Replaces digits by digits of the same number, one to one: different texts of one length and tweak stay different, so groups of equal values stay
 * the same groups. A Feistel network on the two halves of the digits.
 */
export class DigitCipher {
  readonly #hash: KeyedHash;
  /** By length and round: results of the round function plus 1; 0 is unknown. */
  readonly #tables = new Map<number, Uint32Array>();
  readonly #shifts = new Memo<number>(MAX_TWEAKS);

  constructor(hash: KeyedHash) {
    this.#hash = hash;
  }

  /**
   * @param digits ASCII digits
   * @param tweak separates texts that need not stay different from each other
   */
  encrypt(digits: string, tweak: string): string {
    if (digits.length <= MAX_DIGITS) return this.#encrypt(digits, tweak);
    const pieces: string[] = [];
    for (let at = 0; at < digits.length; at += MAX_DIGITS)
      pieces.push(this.#encrypt(digits.slice(at, at + MAX_DIGITS), `${tweak} ${at}`));
    return pieces.join('');
  }

  /** Encrypts digits that do not begin with 0 into such ones: a number of the same length. */
  encryptNumber(digits: string, tweak: string): string {
    let number = digits;
    // Walks along a cycle of the permutation, which contains the beginning.
    do number = this.encrypt(number, tweak);
    while (number.startsWith('0'));
    return number;
  }

  #encrypt(digits: string, tweak: string): string {
    const { length } = digits;
    if (length === 0) return '';
    const all = 10 ** length;
    const shift = this.#shifts.get(`${length} ${tweak}`, () => this.#hash.numberOf(`shift ${length}`, tweak) % all);
    if (length === 1) return String((Number(digits) + (singleShifts[shift % singleShifts.length] ?? 1)) % all);
    const shifted = (Number(digits) + shift) % all;
    const left = Math.floor(length / 2);
    const right = length - left;
    let a = Math.floor(shifted / 10 ** right);
    let b = shifted % 10 ** right;
    for (let round = 0; round < ROUNDS; round++) {
      const [own, other] = round % 2 === 0 ? [left, right] : [right, left];
      const sum = (a + this.#round(length, round, other, b)) % 10 ** own;
      a = b;
      b = sum;
    }
    return String(a).padStart(left, '0') + String(b).padStart(right, '0');
  }

  /** The round function. @param digits of its input */
  #round(length: number, round: number, digits: number, input: number): number {
    if (digits > MAX_TABLE_DIGITS) return this.#hash.numberOf(`round ${length} ${round}`, String(input)) % 10 ** 8;
    const key = length * ROUNDS + round;
    let table = this.#tables.get(key);
    if (!table) {
      table = new Uint32Array(10 ** digits);
      this.#tables.set(key, table);
    }
    const known = table[input] ?? 0;
    if (known > 0) return known - 1;
    const result = this.#hash.numberOf(`round ${length} ${round}`, String(input)) % 10 ** 8;
    table[input] = result + 1;
    return result;
  }
}
