import { unescape as decodePercents } from 'node:querystring';
import { inOneTurn, inTurns } from '../../admission/body-share.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { checkText } from '../../values/index.ts';
import { decodePair, decodeText } from '../endpoint/parse-request.ts';

/** Maximum number of values of a form: more than real forms have, and fast to parse. */
export const MAX_VALUES = 100_000;
/** Maximum number of distinct names of a form: each key of a very large object costs several times as much as a value. */
export const MAX_NAMES = 5_000;

/** Characters of a form that are read in one turn of the event loop, if it is long. */
const TURN_CHARACTERS = 256 * 1024;

/**
 * Parses a form (`application/x-www-form-urlencoded`) or a query string. A repeated name, or one that ends in `[]` (which is removed), yields an
 * array; any name, e.g. `__proto__`, is an own property; invalid escapes are kept. `URLSearchParams` is avoided: it takes quadratic time for names
 * without values. Reference: functions.md#form-values.
 * @throws invalidJson (107) for NUL, and for too many values or names
 */
export function parseForm(text: string): JsonObject {
  return inOneTurn(formSteps(text));
}

/** Like `parseForm`, with turns of the event loop between the parts of the text. @param system whose turns are used */
export const parseLongForm = (text: string, system: string): Promise<JsonObject> => inTurns(system, formSteps(text));

function* formSteps(text: string): Generator<undefined, JsonObject> {
  const parts = text.split('&', MAX_VALUES + 1);
  if (parts.length > MAX_VALUES) fail('invalidJson', `a form has ${MAX_VALUES} values at the most`);
  const fields = new Map<string, string | string[]>();
  let read = 0;
  for (const part of parts) {
    if (part === '') continue;
    const [sent, value] = part.length < TURN_CHARACTERS ? decodePair(part, decodePercents) : yield* decodeLongPair(part);
    checkText(sent);
    checkText(value);
    const isList = sent.endsWith('[]');
    const name = isList ? sent.slice(0, -2) : sent;
    const before = fields.get(name);
    if (before === undefined) {
      if (fields.size === MAX_NAMES) fail('invalidJson', `a form has ${MAX_NAMES} different names at the most`);
      fields.set(name, isList ? [value] : value);
    } else if (typeof before === 'string') fields.set(name, [before, value]);
    else before.push(value);
    read += part.length;
    if (read < TURN_CHARACTERS) continue;
    read = 0;
    yield;
  }
  return Object.fromEntries(fields);
}

function* decodeLongPair(part: string): Generator<undefined, readonly [name: string, value: string]> {
  const equals = part.indexOf('=');
  if (equals < 0) return [yield* decodeLong(part), ''];
  return [yield* decodeLong(part.slice(0, equals)), yield* decodeLong(part.slice(equals + 1))];
}

function* decodeLong(text: string): Generator<undefined, string> {
  let decoded = '';
  for (let at = 0; at < text.length; ) {
    const end = endOfCharacters(text, at + TURN_CHARACTERS);
    decoded += decodeText(text.slice(at, end), decodePercents);
    at = end;
    yield;
  }
  return decoded;
}

/** Matches what a text may end with before its last character is complete: a part of an escape, or the first bytes of a character. */
const incomplete = /%(?:[\da-f])?$|(?:%[c-f][\da-f])(?:%[89ab][\da-f]){0,2}(?:%[\da-f]?)?$/i;

/** Returns where a text with escapes can be divided, at the given position or shortly before it. */
function endOfCharacters(text: string, position: number): number {
  if (position >= text.length) return text.length;
  const found = incomplete.exec(text.slice(position - 12, position));
  return found ? position - 12 + found.index : position;
}
