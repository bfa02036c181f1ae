import type { TextSearch } from '../../../query/model/filter.ts';
import { indexFolding, words } from './words.ts';

/** Letters that Hebrew prefixes to a word as part of it: and, the, in, to, as, from, that. */
export const PREFIX_LETTERS = 'והבלכמש';
export const MAX_PREFIX_LETTERS = 3;

/**
 * Maximum number of search words to look for behind prefix letters: the first ones. SQLite searches for 400 forms of each, which takes it 5 ms even
 * if none occurs.
 */
export const MAX_PREFIXED_WORDS = 10;

const hebrewWord = /^[א-ת][^ ]+$/;

/** Returns the terms and excluded words of a search that also match behind prefix letters. None if the search is diacritic-sensitive. */
export function prefixedWords(search: TextSearch): ReadonlySet<string> {
  if (search.diacriticSensitive) return new Set();
  const all = new Set([...search.terms, ...search.excluded]);
  return new Set([...all].filter((text) => hebrewWord.test(words(text, indexFolding).trim())).slice(0, MAX_PREFIXED_WORDS));
}

/** Returns the word behind each combination of one to three prefix letters: 399 forms. */
export function prefixedForms(word: string): string[] {
  const forms: string[] = [];
  let shorter = [word];
  for (let count = 0; count < MAX_PREFIX_LETTERS; count++) {
    shorter = shorter.flatMap((form) => [...PREFIX_LETTERS].map((letter) => letter + form));
    forms.push(...shorter);
  }
  return forms;
}

/** Returns what remains of a folded word after one to three prefix letters: all forms, apart from the word itself, by which a search may find it. */
export function stemsOf(word: string): string[] {
  const stems: string[] = [];
  for (let at = 1; at <= MAX_PREFIX_LETTERS && PREFIX_LETTERS.includes(word.charAt(at - 1)); at++) {
    const stem = word.slice(at);
    if (!hebrewWord.test(stem)) break;
    stems.push(stem);
  }
  return stems;
}

/** Counts a word in a folded text. @param word with a space at each end, which neighbouring words share */
export function occurrences(text: string, word: string): { readonly whole: number; readonly prefixed: number } {
  const bare = word.slice(1);
  let whole = 0;
  let prefixed = 0;
  for (let at = text.indexOf(bare); at >= 0; at = text.indexOf(bare, at + bare.length - 1)) {
    let start = at;
    while (at - start < MAX_PREFIX_LETTERS && start > 0 && PREFIX_LETTERS.includes(text.charAt(start - 1))) start--;
    if (text.charAt(start - 1) === ' ' && start < at) prefixed++;
    else if (text.charAt(at - 1) === ' ') whole++;
  }
  return { whole, prefixed };
}
