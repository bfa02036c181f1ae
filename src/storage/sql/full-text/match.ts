import type { TextSearch } from '../../../query/model/filter.ts';
import { type Folding, foldedSearch, indexedPart, indexFolding, words } from './words.ts';

/** Whether texts match a search that minds case or diacritics. Words are those of the full-text index. */
export function textMatcher(search: TextSearch): (texts: readonly (string | null)[]) => boolean {
  const { terms, phrases, excluded } = foldedSearch(search);
  return (texts) => {
    const folded = texts.map((text) => foldedText(text, search));
    const found = (wanted: string) => folded.some((text) => text.includes(wanted));
    return (phrases.length > 0 || terms.some(found)) && phrases.every(found) && !excluded.some(found);
  };
}

const foldedText = (text: string | null, folding: Folding) => (text === null ? ' ' : words(indexedPart(text), folding));

/** BM25's k1, as FTS5 has it: a word that stands in a record again and again counts for ever less, up to k1 + 1 times the first. */
export const K1 = 1.2;

/**
 * The relevance of texts to a search by their own words alone: the term frequency part of BM25
 * (https://sqlite.org/fts5.html, "The bm25() function"). `null` where the search does not find them.
 */
export function textScorer(search: TextSearch): (texts: readonly (string | null)[]) => number | null {
  const { terms, phrases } = foldedSearch(search, indexFolding);
  return (texts) => {
    const folded = texts.map((text) => foldedText(text, indexFolding));
    const counts = [...phrases, ...terms].map((wanted) => folded.reduce((sum, text) => sum + occurrences(text, wanted), 0));
    if (counts.slice(0, phrases.length).includes(0)) return null;
    const score = counts.reduce((sum, count) => sum + (count * (K1 + 1)) / (count + K1), 0);
    return score > 0 ? score : null;
  };
}

/** How often words stand in a text; both with a space at each end, which neighbours share. */
function occurrences(text: string, wanted: string): number {
  let count = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length - 1)) count++;
  return count;
}
