import { DAY_MS } from '../../../kernel/time.ts';
import type { Field, FieldType } from '../../../schema/model.ts';
import type { StoredValue } from '../../../values/index.ts';
import { DigitCipher } from './digit-cipher.ts';
import { KeyedHash, Memo } from './keyed-hash.ts';
import { anonymousMarkup } from './markup.ts';
import { anonymousDigits, anonymousNumber, anonymousPhone } from './numbers.ts';
import { Words } from './words.ts';

/** Returns the new value of a field that has a value. */
export type ValueChange = (value: string | number | boolean) => StoredValue;

/** What a field's values are, and so how they are anonymised. Reference: clone.md#anonymised-clones. */
export const kinds = ['name', 'phone', 'email', 'digits', 'text', 'date', 'remove'] as const;
export type Kind = (typeof kinds)[number];

const ofText: readonly FieldType[] = ['String', 'Array', 'Object'];

/** The types of the fields that each kind is for; `remove` is for all. */
export const typesOf: Readonly<Record<Exclude<Kind, 'remove'>, readonly FieldType[]>> = {
  name: ofText,
  phone: [...ofText, 'Number'],
  email: ofText,
  digits: [...ofText, 'Number'],
  text: [...ofText, 'HTML/XML'],
  date: ['Date'],
};

/** Kinds whose results differ for different values, except by a chance that is negligible. */
export const oneToOne: ReadonlySet<Kind> = new Set(['name', 'phone', 'email', 'digits']);

const letters = /[\p{L}\p{M}]+/gu;

/** Days whose moves are kept. */
const MAX_DAYS_KEPT = 20_000;
/** Maximum number of days by which a date is moved. */
const MAX_DAYS = 180;
/** Range of dates that clients can send (types.md#date). */
const MIN_DATE = Date.parse('0001-01-01T00:00:00.000Z');
const MAX_DATE = Date.parse('9999-12-31T23:59:59.999Z');

/** Anonymises values of one clone: the same value in the same way wherever it stands. */
export class Anonymiser {
  readonly #hash: KeyedHash;
  readonly #cipher: DigitCipher;
  readonly #words: Words;
  readonly #days = new Memo<number>(MAX_DAYS_KEPT);

  /** @param hash for tests; default: one with a random key, which is forgotten with this object */
  constructor(hash = new KeyedHash()) {
    this.#hash = hash;
    this.#cipher = new DigitCipher(hash);
    this.#words = new Words(hash, this.#cipher);
  }

  /** Returns what anonymises the stored values of a field. @param field of a type that the kind is for */
  changeFor(kind: Kind, { type }: Pick<Field, 'type'>): ValueChange {
    if (kind === 'remove') return () => null;
    if (kind === 'date') return (value) => this.#date(Number(value));
    const anonymous = this.#textOf(kind);
    if (type === 'HTML/XML') return (value) => anonymousMarkup(anonymous, String(value));
    if (type === 'Number') return (value) => anonymousNumber(anonymous, Number(value));
    if (type === 'String') return (value) => anonymous(String(value));
    return (value) => JSON.stringify(inside(anonymous, kind, JSON.parse(String(value))));
  }

  #textOf(kind: Exclude<Kind, 'remove' | 'date'>): (text: string) => string {
    switch (kind) {
      case 'name':
        return (text) => this.#words.name(text);
      case 'email':
        return (text) => this.#words.email(text);
      case 'text':
        return (text) => this.#words.text(text);
      case 'phone':
        // A text beside the number may be a name.
        return (text) => anonymousPhone(this.#cipher, text).replace(letters, (word) => this.#words.text(word));
      case 'digits':
        return (text) => anonymousDigits(this.#cipher, text);
    }
  }

  /** Moves a date by whole days. All dates of one day (UTC) move together, so that times within a day keep their order and distance. */
  #date(value: number): number {
    const day = Math.floor(value / DAY_MS);
    const chosen = this.#days.get(String(day), () => this.#hash.numberOf('date', String(day)) % (2 * MAX_DAYS));
    const days = chosen < MAX_DAYS ? chosen - MAX_DAYS : chosen - MAX_DAYS + 1;
    const moved = value + days * DAY_MS;
    return moved < MIN_DATE || moved > MAX_DATE ? value - days * DAY_MS : moved;
  }
}

/** Members of values with a type that are no texts of a person. What else such a value has is anonymised: it may be a whole record. */
const members = (...names: string[]): ReadonlySet<string> => new Set(['__type', ...names]);
const pointerMembers = members('className', 'objectId');
const membersOf: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ['Pointer', pointerMembers],
  ['Object', pointerMembers],
  ['Relation', members('className')],
  ['Date', members('iso')],
  ['File', members('name', 'url')],
  ...['GeoPoint', 'Bytes', 'Polygon'].map((type) => [type, members()] as const),
]);
const otherMembers: ReadonlySet<string> = new Set();

/** Anonymises the texts in an Array or Object, and its numbers if the kind is about digits. Keys, Pointers, Dates and Files in it stay. */
function inside(anonymous: (text: string) => string, kind: Kind, value: unknown): unknown {
  if (typeof value === 'string') return anonymous(value);
  if (typeof value === 'number') return kind === 'name' || kind === 'email' ? value : anonymousNumber(anonymous, value);
  if (Array.isArray(value)) return value.map((item) => inside(anonymous, kind, item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const kept = membersOf.get(entries.find(([key]) => key === '__type')?.[1]) ?? otherMembers;
  return Object.fromEntries(entries.map(([key, item]) => [key, kept.has(key) ? item : inside(anonymous, kind, item)]));
}
