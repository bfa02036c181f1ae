import { fail } from '../../errors/fail.ts';
import { isHighSurrogate } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { FAST_KEYS, KEY_MARKS } from './json-input.ts';

/** The size of a part that is parsed in one turn of the event loop. */
export interface PartSize {
  readonly marks: number;
  readonly characters: number;
}

/** Some milliseconds. */
const usualPart: PartSize = { marks: 25_000, characters: 1_000_000 };

/** Maximum number of values of a text. */
export interface JsonBounds {
  /** Maximum number of levels of nesting. */
  readonly levels: number;
  /** `,` `:` `[` `{` outside strings. */
  readonly marks: number;
  /** The same outside long arrays, and in each member of one. Keys of an object with very many keys count as several. */
  readonly marksApart: number;
}

/** Bounds of a body of the data endpoints. Reference: requests.md#bodies. */
export const bodyBounds: JsonBounds = { levels: limits.jsonDepth, marks: limits.jsonMarks, marksApart: limits.jsonMarksAtOnce };

/** A place at which a text is divided: at a comma, or inside a string. */
export interface Cut {
  /** Position of the comma, or of the first character of the next part. */
  readonly at: number;
  readonly isInString: boolean;
  /** The containers that are open here, outermost first: `[` or `{`. */
  readonly open: string;
  /** Number of the outermost of them that have been open since the cut before. */
  readonly kept: number;
  /** For each of them that is an object, the key of the member that is open, as JSON text. */
  readonly keys: readonly string[];
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const SMALL_U = 117;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * Scans a long JSON text before it is parsed: counts its values and levels, and finds places at which it can be divided. Works in steps, so that it can
 * give way between them. Malformed text is mostly left to the parser.
 */
export class JsonScan {
  readonly text: string;
  readonly cuts: Cut[] = [];
  readonly #bounds: JsonBounds;
  readonly #part: PartSize;
  #at = 0;
  /** `,` `:` `[` `{` so far: the measure of the cost of parsing. */
  #marks = 0;
  /** The open containers, as character codes. */
  readonly #open: number[] = [];
  /** Number of keys so far in the open objects, by depth. */
  readonly #keys: number[] = [0];
  /** Where the present key of each open object begins and ends, by depth. */
  readonly #keyStarts: number[] = [0];
  readonly #keyEnds: number[] = [0];
  #isKeyNext = false;
  /** The part since the last cut. */
  #partStart = 0;
  #partMarks = 0;
  #kept = 0;
  /** Inside a string that is scanned character by character: where its last escape begins. */
  #isInString = false;
  #escape = -1;
  /** The long array whose members are counted apart: the depth of its members; 0 if there is none. */
  #level = 0;
  #memberMarks = 0;
  #otherMarks = 0;

  constructor(text: string, bounds: JsonBounds, part = usualPart) {
    this.text = text;
    this.#bounds = bounds;
    this.#part = part;
  }

  get marks(): number {
    return this.#marks;
  }

  /**
   * Scans on.
   * @returns whether the end is reached
   * @throws tooManyValues (116); nestedTooDeep, invalidJson (107)
   */
  step(characters: number): boolean {
    const { text } = this;
    const end = Math.min(text.length, this.#at + characters);
    while (this.#at < end) {
      if (this.#isInString) {
        this.#scanString(end);
        continue;
      }
      const code = text.charCodeAt(this.#at);
      if (code === QUOTE) this.#startString();
      else {
        if (code === COMMA) this.#comma();
        else if (code === COLON) this.#colon();
        else if (code === OPEN_ARRAY || code === OPEN_OBJECT) this.#start(code);
        else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) this.#end(code);
        this.#at++;
      }
    }
    return this.#at >= text.length;
  }

  /** @param weight number of marks that it counts as, where marks are counted apart */
  #mark(weight = 1): void {
    const { marks, marksApart } = this.#bounds;
    if (++this.#marks > marks) fail('tooManyValues');
    this.#partMarks += weight;
    if (this.#level > 0) this.#memberMarks += weight;
    else this.#otherMarks += weight;
    if (this.#memberMarks > marksApart || this.#otherMarks > marksApart) fail('tooManyValues');
  }

  #comma(): void {
    this.#mark();
    const depth = this.#open.length;
    if (depth === 0) return;
    if (depth === this.#level) this.#memberMarks = 0;
    this.#isKeyNext = this.#open[depth - 1] === OPEN_OBJECT;
    if (this.#partMarks >= this.#part.marks || this.#at - this.#partStart >= this.#part.characters) this.#cut(false);
  }

  #colon(): void {
    const depth = this.#open.length;
    const keys = (this.#keys[depth] ?? 0) + 1;
    this.#keys[depth] = keys;
    this.#mark(keys > FAST_KEYS ? KEY_MARKS : 1);
  }

  #start(code: number): void {
    this.#mark();
    const depth = this.#open.push(code);
    if (depth > this.#bounds.levels) fail('nestedTooDeep');
    this.#keys[depth] = 0;
    this.#isKeyNext = code === OPEN_OBJECT;
    if (this.#isKeyNext || this.#level > 0 || depth > (this.#open[0] === OPEN_OBJECT ? 2 : 1)) return;
    this.#level = depth;
    this.#memberMarks = 0;
  }

  #end(code: number): void {
    const opened = this.#open.pop();
    if (opened !== (code === CLOSE_ARRAY ? OPEN_ARRAY : OPEN_OBJECT)) fail('invalidJson', 'the text is not JSON');
    const depth = this.#open.length;
    this.#isKeyNext = false;
    if (depth < this.#kept) this.#kept = depth;
    if (depth < this.#level) this.#level = 0;
  }

  /** Passes a string, or begins to scan it character by character if it may have to be divided. */
  #startString(): void {
    const start = this.#at;
    const maxEnd = this.#isKeyNext ? this.text.length : this.#partStart + 2 * this.#part.characters;
    const end = endOfString(this.text, start, maxEnd);
    if (this.#isKeyNext) {
      const depth = this.#open.length;
      this.#keyStarts[depth] = start;
      this.#keyEnds[depth] = end + 1;
      this.#isKeyNext = false;
    } else if (end > maxEnd && this.#open.length > 0) {
      this.#isInString = true;
      this.#escape = -1;
      this.#at++;
      return;
    }
    this.#at = end + 1;
  }

  #scanString(end: number): void {
    const { text } = this;
    const cutFrom = this.#partStart + this.#part.characters;
    for (let at = this.#at; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#isInString = false;
        this.#at = at + 1;
        return;
      }
      if (at >= cutFrom && this.#mayCut(at)) {
        this.#at = at;
        this.#cut(true);
        return;
      }
      if (code === BACKSLASH) this.#escape = at++;
      this.#at = at + 1;
    }
  }

  /** Whether a string can be divided here: neither in an escape nor in a surrogate pair. */
  #mayCut(at: number): boolean {
    const { text } = this;
    if (isHighSurrogate(text.charCodeAt(at - 1))) return false;
    const start = this.#escape;
    if (start < 0) return true;
    const isCode = text.charCodeAt(start + 1) === SMALL_U;
    const end = start + (isCode ? 6 : 2);
    return at > end || (at === end && !(isCode && isHighSurrogate(Number.parseInt(text.slice(start + 2, end), 16))));
  }

  #cut(isInString: boolean): void {
    const depth = this.#open.length;
    const keys = this.#open.map((code, at) =>
      code === OPEN_OBJECT ? this.text.slice(this.#keyStarts[at + 1], this.#keyEnds[at + 1]) : '',
    );
    this.cuts.push({ at: this.#at, isInString, open: String.fromCharCode(...this.#open), kept: this.#kept, keys });
    this.#partStart = isInString ? this.#at : this.#at + 1;
    this.#partMarks = 0;
    this.#kept = depth;
  }
}

/** Returns the position of the quote that ends a string; the end of the text if there is none, or if it lies beyond `maxEnd`. */
function endOfString(text: string, start: number, maxEnd: number): number {
  const end = text.indexOf('"', start + 1);
  if (end < 0) return text.length;
  if (text.charCodeAt(end - 1) !== BACKSLASH) return end;
  // Character by character: a search for each of millions of escaped quotes takes ten times as long.
  const last = Math.min(maxEnd, text.length - 1);
  for (let at = start + 1; at <= last; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return text.length;
}
