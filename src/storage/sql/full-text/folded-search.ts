import type { TextSearch } from '../../../query/model/filter.ts';
import { prefixedWords } from './hebrew-prefixes.ts';
import { type Folding, indexFolding, words } from './words.ts';

/** A word or phrase that a search looks for. */
export interface FoldedTerm {
  /** As it occurs in folded texts, with a space at each end. */
  readonly words: string;
  /** Whether it also matches behind prefix letters; then it is one word. */
  readonly isPrefixed: boolean;
}

/** What a search requires and excludes. Entries without words are left out. */
export interface FoldedSearch {
  readonly terms: readonly FoldedTerm[];
  readonly phrases: readonly FoldedTerm[];
  readonly excluded: readonly FoldedTerm[];
}

/**
 * Returns a search with folded words. Phrases match only as they are; terms and excluded words also match behind prefix letters. Reference:
 * queries.md#text-search.
 */
export function foldedSearch(search: TextSearch, folding: Folding = search): FoldedSearch {
  const prefixed = prefixedWords(search);
  // Combining marks alone are not a word, even in diacritic-sensitive searches.
  const worded = (list: readonly string[]): string[] => list.filter((text) => words(text, indexFolding).trim() !== '');
  const folded = (list: readonly string[]): FoldedTerm[] =>
    worded(list).map((text) => ({ words: words(text, folding), isPrefixed: prefixed.has(text) }));
  const phrases = worded(search.phrases).map((text) => ({ words: words(text, folding), isPrefixed: false }));
  return { terms: folded(search.terms), phrases, excluded: folded(search.excluded) };
}
