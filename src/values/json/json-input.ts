import { fail } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';

/** Texts of at least this length are scanned before JSON.parse builds their values; below it even the worst text is cheap to parse. */
const SCAN_FROM_LENGTH = 16_384;

/** Number of keys up to which V8 stores an object efficiently; further keys go into a hash table, and each costs as much as several values. */
export const FAST_KEYS = 2_000;
/** Marks that a key beyond FAST_KEYS counts as. */
export const KEY_MARKS = 4;

/** Escapes that can produce NUL or half of a surrogate pair. */
const suspicious = /\\u(?:0000|[dD][89a-fA-F])/;

const tooDeep = (): never => fail('nestedTooDeep');

/**
 * Parses a JSON text from outside: a body, a `where`, a pipeline. Does not check keys, since their rules depend on the place: field names
 * are checked by schema/model.ts, keys inside values by `checkKeys`. Reference: requests.md#bodies.
 * @param text as decoded from UTF-8, so that half of a surrogate pair can only occur as an escape
 * @param levels maximum number of levels of nesting
 * @param values maximum number of values, counted by the marks between and before them: `{"a":[]}` has three; keys of an object with very many
 * keys count as several
 * @throws tooManyValues (116); invalidJson (107) for malformed text, too many levels, NUL or lone surrogates in strings and keys, numbers that are
 * not finite
 */
export function parseRequestJson(
  text: string,
  levels: number = limits.jsonDepth,
  values: number = limits.jsonMarksAtOnce,
): JsonValue {
  if (text.length >= SCAN_FROM_LENGTH) scan(text, levels, values);
  return parseScanned(text, levels);
}

/** Parses a text whose levels and values were already counted. */
export function parseScanned(text: string, levels: number): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    return fail('invalidJson', 'the text is not JSON');
  }
  check(value, levels, text.includes('\\u') && suspicious.test(text));
  return value;
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;

/** Counts what is outside strings: open brackets, and the marks before values. Malformed text is left to JSON.parse. */
function scan(text: string, levels: number, values: number): void {
  let depth = 0;
  let marks = 0;
  /** Number of keys so far in the open objects, by depth. */
  const keys: number[] = [0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (at < 0) return;
    } else if (code === COMMA) {
      if (++marks > values) fail('tooManyValues');
    } else if (code === COLON) {
      const count = (keys[depth] ?? 0) + 1;
      keys[depth] = count;
      marks += count > FAST_KEYS ? KEY_MARKS : 1;
      if (marks > values) fail('tooManyValues');
    } else if ((code | 32) === 123) {
      // [ and {
      if (++depth > levels) tooDeep();
      keys[depth] = 0;
      if (++marks > values) fail('tooManyValues');
    } else if ((code | 32) === 125) depth--;
  }
}

/** Returns the position of the quote that ends a string; -1 if there is none. */
export function endOfString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1);
  if (end < 0 || text.charCodeAt(end - 1) !== BACKSLASH) return end;
  // Character by character: a search for each of millions of escaped quotes takes ten times as long.
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return -1;
}

function check(value: JsonValue, levels: number, strings: boolean): void {
  if (typeof value === 'number') {
    if (value - value !== 0) fail('invalidJson', 'a number is too large');
  } else if (typeof value === 'string') {
    if (strings) checkText(value);
  } else if (typeof value === 'object' && value !== null) {
    if (levels === 0) tooDeep();
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at++) check(value[at] as JsonValue, levels - 1, strings);
    } else {
      for (const key in value) {
        if (strings) checkText(key);
        check(value[key] as JsonValue, levels - 1, strings);
      }
    }
  }
}

/** @throws invalidJson (107) for NUL and lone surrogates */
export function checkText(text: string): void {
  if (text.includes('\0')) fail('invalidJson', 'a string holds NUL');
  if (!text.isWellFormed()) fail('invalidJson', 'a string holds half of a surrogate pair');
}
