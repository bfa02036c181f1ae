import type { TextSearch } from '../../../query/model/filter.ts';
import { type FoldedTerm, foldedSearch } from './folded-search.ts';
import { occurrences } from './hebrew-prefixes.ts';
import { type Folding, indexedPart, indexFolding, words } from './words.ts';

/** Returns a predicate for texts that match a case- or diacritic-sensitive search. Words are split as in the full-text index. */
export function textMatcher(search: TextSearch): (texts: readonly (string | null)[]) => boolean {
  const { terms, phrases, excluded } = foldedSearch(search);
  // A phrase without words matches nothing.
  if (phrases.length < search.phrases.length) return () => false;
  return (texts) => {
    const folded = texts.map((text) => foldedText(text, search));
    const found = (wanted: FoldedTerm) => folded.some((text) => holds(text, wanted));
    return (phrases.length > 0 || terms.some(found)) && phrases.every(found) && !excluded.some(found);
  };
}

const foldedText = (text: string | null, folding: Folding) => (text === null ? ' ' : words(indexedPart(text), folding));

function holds(text: string, { words, isPrefixed }: FoldedTerm): boolean {
  return text.includes(words) || (isPrefixed && occurrences(text, words).prefixed > 0);
}

/** BM25's k1, as in FTS5: each repetition of a word adds less, up to k1 + 1 times the first occurrence. */
export const K1 = 1.2;

/**
 * Returns a function that scores texts by their own words only: the term frequency part of BM25 (https://sqlite.org/fts5.html, "The bm25()
 * function"). Texts that contain a word of the search as is, or its phrases, score at least 1; those with words behind prefix letters only, less.
 * `null` if the search does not find them. Reference: queries.md#text-search.
 */
export function textScorer(search: TextSearch): (texts: readonly (string | null)[]) => number | null {
  const { terms, phrases } = foldedSearch(search, indexFolding);
  const all = [...phrases, ...terms];
  if (phrases.length < search.phrases.length) return () => null;
  return (texts) => {
    const folded = texts.map((text) => foldedText(text, indexFolding));
    let score = 0;
    let hasWhole = false;
    for (const [at, { words, isPrefixed }] of all.entries()) {
      const counts = folded.map((text) => occurrences(text, words));
      const whole = counts.reduce((sum, one) => sum + one.whole, 0);
      const count = whole + (isPrefixed ? counts.reduce((sum, one) => sum + one.prefixed, 0) : 0);
      if (count === 0 && at < phrases.length) return null;
      hasWhole ||= whole > 0;
      score += (count * (K1 + 1)) / (count + K1);
    }
    if (score === 0) return null;
    return hasWhole ? score : score / (1 + score);
  };
}
