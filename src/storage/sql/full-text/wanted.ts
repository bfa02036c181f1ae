import type { TextSearch } from '../../../query/model/filter.ts';
import { prefixedWords } from './prefixes.ts';
import { type Folding, indexFolding, words } from './words.ts';

/** A word or a phrase that a search looks for. */
export interface Wanted {
  /** As it stands in folded texts, with a space at each end. */
  readonly words: string;
  /** Whether it is found behind prefix letters, too. One word, then. */
  readonly isPrefixed: boolean;
}

/** What a search wants and what it excludes. What holds no word is left out. */
export interface FoldedSearch {
  readonly terms: readonly Wanted[];
  readonly phrases: readonly Wanted[];
  readonly excluded: readonly Wanted[];
}

/** Phrases are found as they are; words of a search, and those it excludes, behind prefix letters as well (docs/decisions.md). */
export function foldedSearch(search: TextSearch, folding: Folding = search): FoldedSearch {
  const prefixed = prefixedWords(search);
  // Marks alone are no word, whatever the search minds.
  const worded = (list: readonly string[]): string[] => list.filter((text) => words(text, indexFolding).trim() !== '');
  const wanted = (list: readonly string[]): Wanted[] =>
    worded(list).map((text) => ({ words: words(text, folding), isPrefixed: prefixed.has(text) }));
  const phrases = worded(search.phrases).map((text) => ({ words: words(text, folding), isPrefixed: false }));
  return { terms: wanted(search.terms), phrases, excluded: wanted(search.excluded) };
}
