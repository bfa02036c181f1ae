import type { Grant } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import type { FieldType } from '../schema/model.ts';
import type { Filter, OrderKey, TextSearch } from './filter.ts';
import { resolveName } from './keys.ts';

const maxKeys = 100;
const unordered: ReadonlySet<FieldType> = new Set(['Relation', 'ACL']);
/** Parse's other names for them, which its clients send. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ['_created_at', 'createdAt'],
  ['_updated_at', 'updatedAt'],
]);

/**
 * `order`: names, `-` before one for descending, `$score` for the relevance of `$text` (SPEC "Query").
 * Unknown fields are passed over: all records are alike in them. An order ends in objectId, so that pages are stable.
 * @param ranked whether the query has a relevance; `$score` is passed over otherwise
 * @throws invalidFieldName (105), fieldDenied, badParameterValue
 */
export function parseOrder(names: readonly string[], grant: Grant, ranked: boolean): OrderKey[] {
  const keys = new Map<string, OrderKey>();
  for (const item of names) {
    const descending = item.startsWith('-');
    const written = descending ? item.slice(1) : item;
    const name = synonyms.get(written) ?? written;
    if (keys.has(name)) continue;
    if (name === '$score') {
      if (ranked) keys.set(name, { kind: 'score', descending });
      continue;
    }
    const ref = resolveName(name, grant);
    if (ref && !unordered.has(ref.field.type)) keys.set(name, { kind: 'field', ref, descending });
  }
  if (keys.size > maxKeys) fail('badParameterValue', 'order', `more than ${maxKeys} keys`);
  const objectId = grant.table.fields.get('objectId');
  if (names.length > 0 && !keys.has('objectId') && objectId)
    keys.set('objectId', { kind: 'field', ref: { field: objectId, path: [] }, descending: false });
  return [...keys.values()];
}

const maxParts = 256;
const part = /(-?)(?:"([^"]*)"?|([^\s"]+))/gu;
const separators = /[^\p{L}\p{N}\p{M}]+/u;

/**
 * `$text: {$search: {$term, $language?, $caseSensitive?, $diacriticSensitive?}}` (CONTRACT "Records").
 * @throws noTextIndex (500) where the table has none; badConstraint (107) when malformed; badQuery (102) when too long;
 *   fieldDenied where the index covers a field that is hidden from the caller
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

/** Words, `"phrases"` and `-excluded` of a search text. */
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
  if (terms.size + phrases.size + excluded.size > maxParts) fail('badQuery', '$term has too many words');
  return { terms: [...terms], phrases: [...phrases], excluded: [...excluded] };
}

function flag(search: JsonObject, name: string): boolean {
  const value = own(search, name) ?? false;
  if (typeof value !== 'boolean') fail('badConstraint', `bad $text: ${name}, should be boolean`);
  return value;
}

/** The `$text` of a filter by which relevance is measured: the first that a match may rest on. */
export function findSearch(filter: Filter): Extract<Filter, { kind: 'text' }> | undefined {
  if (filter.kind === 'text') return filter;
  if (filter.kind !== 'and' && filter.kind !== 'or') return undefined;
  for (const item of filter.items) {
    const found = findSearch(item);
    if (found) return found;
  }
  return undefined;
}
