import type { Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Filter, TextSearch } from '../model/filter.ts';

const MAX_PARTS = 256;

const part = /(-?)(?:"([^"]*)"?|([^\s"]+))/gu;

const separators = /[^\p{L}\p{N}\p{M}]+/u;

/**
 * Parses `$text: {$search: {$term, $language?, $caseSensitive?, $diacriticSensitive?}}`. Reference: queries.md#text-search.
 * @throws noTextIndex (500) if the table has none; badConstraint (107) when malformed; badQuery (102) when too long;
 * fieldDenied if the index covers a field that is hidden from the caller
 */
export function parseText(value: JsonValue, grant: Grant): Filter {
  const search = isJsonObject(value) ? own(value, '$search') : undefined;
  if (!isJsonObject(search)) fail('badConstraint', 'bad $text: $search, should be object');
  const term = own(search, '$term');
  if (typeof term !== 'string' || term === '') fail('badConstraint', 'bad $text: $term, should be string');
  if (typeof (own(search, '$language') ?? '') !== 'string') fail('badConstraint', 'bad $text: $language, should be string');
  const caseSensitive = flag(search, '$caseSensitive');
  const diacriticSensitive = flag(search, '$diacriticSensitive');
  const { table } = grant;
  if (table.textIndex.length === 0) fail('noTextIndex', table.className);
  const hidden = table.textIndex.find((name) => grant.hiddenFields.has(name) || grant.masks.has(name));
  if (hidden !== undefined) fail('fieldDenied', hidden, table.className);
  const words = splitTerm(term);
  if (words.terms.length === 0 && words.phrases.length === 0) return { kind: 'never' };
  return { kind: 'text', table, search: { ...words, caseSensitive, diacriticSensitive } };
}

/** Splits a search text into words, `"phrases"` and `-excluded` ones. */
export function splitTerm(term: string): Pick<TextSearch, 'terms' | 'phrases' | 'excluded'> {
  if (term.length > limits.regexLength) fail('badQuery', '$term is too long');
  const terms = new Set<string>();
  const phrases = new Set<string>();
  const excluded = new Set<string>();
  for (const [, minus, phrase, word] of term.matchAll(part)) {
    const words = (phrase ?? word ?? '').split(separators).filter((one) => one !== '');
    if (words.length === 0) continue;
    if (minus) excluded.add(words.join(' '));
    else if (phrase !== undefined) phrases.add(words.join(' '));
    else for (const one of words) terms.add(one);
  }
  if (terms.size + phrases.size + excluded.size > MAX_PARTS) fail('badQuery', '$term has too many words');
  return { terms: [...terms], phrases: [...phrases], excluded: [...excluded] };
}

function flag(search: JsonObject, name: string): boolean {
  const value = own(search, name) ?? false;
  if (typeof value !== 'boolean') fail('badConstraint', `bad $text: ${name}, should be boolean`);
  return value;
}
