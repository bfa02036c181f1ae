import { unescape as decodePercents } from 'node:querystring';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { checkText } from '../../values/index.ts';
import { decodePair } from '../endpoint/parse-request.ts';

/** Values of one form: more than any has, and soon read. */
const MAX_VALUES = 100_000;
/** Different names of one form: an object of very many keys takes several times as long for each as a value does. */
const MAX_NAMES = 5_000;

/**
 * The fields of a form as browsers encode them (`application/x-www-form-urlencoded`), or of a query. A name that comes several times, or
 * ends in `[]`, which is left out, brings an array (docs/decisions.md "Functions and forms"). Any name is an own property. What is no
 * valid escape stays as it is. (`URLSearchParams` takes quadratic time for names without values.)
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
