import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { endOfString, FAST_KEYS, KEY_MARKS, parseScanned } from './json-input.ts';

/** Part of an array that is parsed in one turn of the event loop; a single larger member is parsed whole. */
const TURN_MARKS = 50_000;
const TURN_CHARACTERS = 2_000_000;

/** A part of the text. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** A long array between its brackets, and the slices of it that are parsed one by one. */
interface LongArray extends Span {
  readonly slices: readonly Span[];
}

/** A JSON text that was scanned but not yet parsed. */
export interface ScannedJson {
  readonly text: string;
  /** `,` `:` `[` `{` outside strings: the measure of the cost of parsing. */
  readonly marks: number;
  readonly arrays: readonly LongArray[];
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;

/**
 * Scans a long JSON text before it is parsed: counts values and levels, and finds the arrays that can be parsed in slices: the text itself, or
 * the values of the keys of an object. Malformed text is left to the parser.
 * @throws tooManyValues (116), nestedTooDeep (107)
 */
export function scanJson(text: string): ScannedJson {
  return new Scan(text).run();
}

class Scan {
  readonly #text: string;
  readonly #arrays: LongArray[] = [];
  #marks = 0;
  #depth = 0;
  #rootIsObject = false;
  /** Number of keys so far in the open objects, by depth. */
  readonly #keys: number[] = [];
  /** The depth inside the array that is being cut; 0 if there is none. */
  #level = 0;
  #arrayStart = 0;
  #slices: Span[] = [];
  #sliceStart = 0;
  /** Marks that are parsed at once: of the current slice, and of everything outside slices. */
  #sliceMarks = 0;
  #otherMarks = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): ScannedJson {
    const text = this.#text;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        const end = endOfString(text, at);
        if (end < 0) break;
        at = end;
      } else if (code === COMMA || code === COLON) {
        this.#mark(code === COLON && this.#isMany() ? KEY_MARKS : 1);
        if (code === COMMA && this.#depth === this.#level && this.#isFull(at)) this.#cut(at);
      } else if ((code | 32) === OPEN_OBJECT) this.#open(code, at);
      else if ((code | 32) === 125) this.#close(code, at);
    }
    return { text, marks: this.#marks, arrays: this.#arrays };
  }

  /** @param weight number of marks that it counts as, of those parsed at once */
  #mark(weight = 1): void {
    if (++this.#marks > limits.jsonMarks) fail('tooManyValues');
    if (this.#level > 0) this.#sliceMarks += weight;
    else this.#otherMarks += weight;
    if ((this.#level > 0 ? this.#sliceMarks : this.#otherMarks) > limits.jsonMarksAtOnce) fail('tooManyValues');
  }

  /** Counts a key. */
  #isMany(): boolean {
    const keys = (this.#keys[this.#depth] ?? 0) + 1;
    this.#keys[this.#depth] = keys;
    return keys > FAST_KEYS;
  }

  #isFull(at: number): boolean {
    return this.#level > 0 && (this.#sliceMarks >= TURN_MARKS || at - this.#sliceStart >= TURN_CHARACTERS);
  }

  #cut(at: number): void {
    this.#slices.push({ start: this.#sliceStart, end: at });
    this.#sliceStart = at + 1;
    this.#sliceMarks = 0;
  }

  #open(code: number, at: number): void {
    this.#mark();
    if (++this.#depth > limits.jsonDepth) fail('nestedTooDeep');
    const isObject = code === OPEN_OBJECT;
    this.#keys[this.#depth] = 0;
    if (this.#depth === 1) this.#rootIsObject = isObject;
    if (isObject || this.#level > 0 || this.#depth > (this.#rootIsObject ? 2 : 1)) return;
    this.#level = this.#depth;
    this.#arrayStart = this.#sliceStart = at + 1;
    this.#slices = [];
    this.#sliceMarks = 0;
  }

  #close(code: number, at: number): void {
    if (this.#level > 0 && this.#depth === this.#level) {
      if (code !== CLOSE_ARRAY) fail('invalidJson', 'the text is not JSON');
      if (this.#slices.length > 0) {
        this.#cut(at);
        this.#arrays.push({ start: this.#arrayStart, end: at, slices: this.#slices });
      } else {
        this.#otherMarks += this.#sliceMarks;
        if (this.#otherMarks > limits.jsonMarksAtOnce) fail('tooManyValues');
      }
      this.#level = 0;
    }
    this.#depth--;
  }
}

/**
 * Parses a scanned text, like `parseRequestJson`, but its long arrays slice by slice, with turns of the event loop between them.
 * @throws invalidJson (107)
 */
export async function parseScannedJson({ text, arrays }: ScannedJson): Promise<JsonValue> {
  const read = new Map<string, JsonValue[]>();
  const rest: string[] = [];
  let at = 0;
  for (const array of arrays) {
    // A placeholder that a client cannot guess. It stands between the brackets, so that an array in an invalid place stays invalid.
    const mark = randomUUID();
    rest.push(text.slice(at, array.start), JSON.stringify(mark));
    at = array.end;
    read.set(mark, await readArray(text, array));
  }
  rest.push(text.slice(at));
  return filled(parseScanned(rest.join(''), limits.jsonDepth), read);
}

async function readArray(text: string, { slices }: LongArray): Promise<JsonValue[]> {
  const members: JsonValue[] = [];
  for (const slice of slices) {
    const part = parseScanned(`[${text.slice(slice.start, slice.end)}]`, limits.jsonDepth) as JsonValue[];
    // An empty slice means two commas in a row, or one at the beginning.
    if (part.length === 0) fail('invalidJson', 'the text is not JSON');
    for (const member of part) members.push(member);
    await nextTurn();
  }
  return members;
}

/** Returns the value with the arrays put in their places. */
function filled(value: JsonValue, arrays: ReadonlyMap<string, JsonValue[]>): JsonValue {
  const arrayOf = (one: JsonValue) => (Array.isArray(one) && typeof one[0] === 'string' ? arrays.get(one[0]) : undefined);
  if (!isJsonObject(value)) return arrayOf(value) ?? value;
  for (const key of Object.keys(value)) {
    const array = arrayOf(value[key] as JsonValue);
    // Defined rather than assigned: `__proto__` is an ordinary key here.
    if (array) Object.defineProperty(value, key, { value: array });
  }
  return value;
}
