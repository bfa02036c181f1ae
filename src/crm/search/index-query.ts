import type { SearchWord, SearchWords } from '../../query/model/filter.ts';
import { fieldOf, type TableSchema } from '../../schema/model.ts';
import { PHONE_END, SEARCH_INDEX } from '../../schema/search-index.ts';
import { countsOf, type PhoneQuery } from './phones.ts';

/** Maximum number of words looked up in the index; the terms of the search check the rest. */
export const MAX_WORDS = 8;
/** Maximum number of records that the index returns for one search. */
const MAX_FOUND = 2_000;

const separators = /[^\p{L}\p{N}\p{M}\p{Co}]+/u;
/** Letters that both engines tokenise alike: without combining marks, except Latin ones. */
const plain = /^[a-z0-9\u00df-\u00f6\u00f8-\u024f\u03b1-\u03c9\u0430-\u044f\u05d0-\u05ea\u0620-\u064a]+$/;

/**
 * Returns the query of the search index for a text.
 * @param names fields that the caller may query
 * @returns `null` if the index cannot answer it
 */
export function indexQueryOf(
  table: TableSchema,
  names: readonly string[],
  phone: PhoneQuery | null,
  query: string,
): SearchWords | null {
  const queryable = new Set(names);
  const indexed = table.indexes.get(SEARCH_INDEX)?.keys ?? [];
  const fields = indexed.flatMap(([name]) => (queryable.has(name) ? [fieldOf(table, name)] : []));
  const words = wordsOf(query);
  if (fields.length === 0 || words.length === 0) return null;
  return { words, ...phoneTokens(phone, query), fields, limit: MAX_FOUND };
}

function wordsOf(query: string): SearchWord[] {
  const parts = query.normalize('NFC').toLowerCase().split(/\s+/);
  const words = parts.flatMap((part) => wordsOfPart(part.split(separators).filter((word) => word !== '')));
  return words.filter(({ word }) => plain.test(word)).slice(0, MAX_WORDS);
}

/**
 * Splits a part such as `dana@example.com` or `050-1234567`: all words except the last are whole. A short last word (one letter, or the end of an
 * address)
 * is too frequent to be selective and is left to the terms of the search.
 */
function wordsOfPart(words: readonly string[]): SearchWord[] {
  const last = words.at(-1) ?? '';
  const isKept = words.length === 1 || last.length > (words.length === 2 ? 1 : 3);
  const whole = words.slice(0, -1).map((word) => ({ word, isWhole: true }));
  return isKept && last !== '' ? [...whole, { word: last, isWhole: false }] : whole;
}

function phoneTokens(phone: PhoneQuery | null, query: string): Pick<SearchWords, 'tokens' | 'starts'> {
  const number = /^\s*#?\d{1,15}\s*$/.test(query) ? [String(Number(query.replace('#', '')))] : [];
  if (phone === null) return { tokens: number, starts: [] };
  const counts = countsOf(phone).map(String);
  const end =
    phone.isWhole && phone.key.length >= PHONE_END.digits ? [PHONE_END.letter + phone.key.slice(-PHONE_END.digits)] : [];
  return { tokens: [...new Set([...number, ...counts, ...end])], starts: [phone.key] };
}
