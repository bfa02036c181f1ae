import type { DigitCipher } from './digit-cipher.ts';
import { type KeyedHash, Memo } from './keyed-hash.ts';
import { anonymousDigits } from './numbers.ts';
import { latinScript, type Script, scriptOf, withFinal } from './scripts.ts';

/** Words whose results are kept. */
const MAX_WORDS = 5_000;

/** Words of letters, and numbers. */
const pieces = /[\p{L}\p{M}]+|[0-9]+|\p{N}+/gu;
/** Between these are the characters of which the service reads e-mail addresses, with one @ inside. */
const betweenGaps = /[^\s\p{C}<>()[\]\\,;:"]+/gu;
const address = /^[^@]+@./u;
/** Domain that exists for examples only and receives no mail (RFC 2606). */
const DOMAIN = 'example.com';

/** Anonymises texts word by word: equal words become equal words, regardless of case, wherever they stand. */
export class Words {
  readonly #hash: KeyedHash;
  readonly #cipher: DigitCipher;
  readonly #names = new Memo<string>(MAX_WORDS);
  readonly #words = new Memo<string>(MAX_WORDS);

  constructor(hash: KeyedHash, cipher: DigitCipher) {
    this.#hash = hash;
    this.#cipher = cipher;
  }

  /** Replaces each word by an invented name of its script, and each number by another; other characters stay. */
  name(text: string): string {
    return text.replace(pieces, (piece) =>
      isNumber(piece) ? this.#number(piece) : this.#names.get(piece, () => this.#nameFor(piece)),
    );
  }

  /** Replaces each word by letters of its script and length, and each number by another; other characters stay. */
  text(text: string): string {
    return text.replace(pieces, (piece) =>
      isNumber(piece) ? this.#number(piece) : this.#words.get(piece, () => this.#wordFor(piece)),
    );
  }

  /** Replaces each e-mail address by one at `example.com`, other words as `name` does. */
  email(text: string): string {
    return text.replace(betweenGaps, (run) => (address.test(run) ? this.#addressFor(run) : this.name(run)));
  }

  #nameFor(word: string): string {
    const lower = word.toLowerCase();
    const script = scriptOf(word);
    return this.#cased(withFinal(invented(script, this.#hash.of('name', lower))), word, lower);
  }

  #wordFor(word: string): string {
    const hash = this.#hash.of('text', word.toLowerCase());
    let at = 0;
    let result = '';
    for (const letter of word) {
      if (/\p{M}/u.test(letter)) continue;
      const { letters } = scriptOf(letter);
      const lower = letter.toLowerCase();
      // The hash is long enough for most words; longer ones go round it.
      let chosen = (hash.readUInt8(at % hash.length) + Math.floor(at / hash.length)) % letters.length;
      if (letters[chosen] === lower) chosen = (chosen + 1) % letters.length;
      const other = letters[chosen] ?? '';
      result += letter === lower ? other : other.toUpperCase();
      at++;
    }
    return result;
  }

  #addressFor(original: string): string {
    // As in `emailKey`: addresses are the same regardless of case.
    const key = original.normalize('NFKC').toLowerCase();
    const hash = this.#hash.of('email', key);
    const [first, last] = [hash.subarray(0, 16), hash.subarray(16)].map((half) => invented(latinScript, half));
    const local = this.#cased(`${first}.${last}`, original, key);
    return `${local}@${DOMAIN}`;
  }

  #number(piece: string): string {
    if (!/^[0-9]/.test(piece)) return String(this.#hash.numberOf('number', piece) % 10 ** Math.min(8, piece.length));
    return anonymousDigits(this.#cipher, piece);
  }

  /** Writes an invented word in the case of the original: lower, capital first letter, capitals, or a mixture that only this original has. */
  #cased(word: string, original: string, lower: string): string {
    if (original === lower) return word;
    const [first = '', ...rest] = original;
    if (first !== first.toLowerCase() && rest.join('') === lower.slice(first.length)) return capital(word);
    if (original === original.toUpperCase()) return word.toUpperCase();
    const mask = this.#hash.numberOf('case', original);
    const [start = '', ...others] = word;
    const mixed = others.map((letter, at) => (Math.floor(mask / 2 ** (at % 40)) % 2 === 1 ? letter.toUpperCase() : letter));
    return start + mixed.join('');
  }
}

const isNumber = (piece: string): boolean => /^\p{N}/u.test(piece);

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Makes a word of a script from at least 12 bytes. */
function invented({ onsets, vowels, codas, syllables }: Script, bytes: Buffer): string {
  const pick = (from: readonly string[], byte: number) => from[bytes.readUInt8(byte) % from.length] ?? '';
  let word = '';
  for (let at = 0; at < syllables; at++) word += pick(onsets, 3 * at) + pick(vowels, 3 * at + 1) + pick(codas, 3 * at + 2);
  return word;
}
