import { unescape as decodePercents } from 'node:querystring';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { checkText } from '../../values/index.ts';
import { decodePair } from '../endpoint/parse-request.ts';

/** Maximum number of values of a form: more than real forms have, and fast to parse. */
export const MAX_VALUES = 100_000;
/** Maximum number of distinct names of a form: each key of a very large object costs several times as much as a value. */
export const MAX_NAMES = 5_000;

/**
 * Parses a form (`application/x-www-form-urlencoded`) or a query string. A repeated name, or one that ends in `[]` (which is removed), yields an
 * array; any name, e.g. `__proto__`, is an own property; invalid escapes are kept. `URLSearchParams` is avoided: it takes quadratic time for names
 * without values. Reference: functions.md#form-values.
 * @throws invalidJson (107) for NUL, and for too many values or names
 */
export function parseForm(text: string): JsonObject {
  const fields = new Map<string, string | string[]>();
  const parts = text.split('&', MAX_VALUES + 1);
  if (parts.length > MAX_VALUES) fail('invalidJson', `a form has ${MAX_VALUES} values at the most`);
  for (const part of parts) {
    if (part === '') continue;
    const [sent, value] = decodePair(part, decodePercents);
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
  }
  return Object.fromEntries(fields);
}
