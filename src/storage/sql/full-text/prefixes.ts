import type { TextSearch } from '../../../query/model/filter.ts';
import { indexFolding, words } from './words.ts';

/** Letters that Hebrew writes in front of a word, as a part of it: and, the, in, to, as, from, that. */
export const PREFIX_LETTERS = 'והבלכמש';
export const MAX_PREFIX_LETTERS = 3;

/**
 * Words of a search that are looked for behind prefix letters, the first ones: SQLite looks for 400 forms of each, which takes it 5 ms where
 * none of them is anywhere.
 */
const MAX_PREFIXED_WORDS = 10;

const hebrewWord = /^[א-ת][^ ]+$/;

/** The terms and excluded words of a search that stand for themselves behind prefix letters, too. None where diacritics are minded. */
export function prefixedWords(search: TextSearch): ReadonlySet<string> {
  if (search.diacriticSensitive) return new Set();
  const all = new Set([...search.terms, ...search.excluded]);
  return new Set([...all].filter((text) => hebrewWord.test(words(text, indexFolding).trim())).slice(0, MAX_PREFIXED_WORDS));
}

/** A word behind one letter to three, whichever these are: 399 forms. */
export function prefixedForms(word: string): string[] {
  const forms: string[] = [];
  let shorter = [word];
  for (let count = 0; count < MAX_PREFIX_LETTERS; count++) {
    shorter = shorter.flatMap((form) => [...PREFIX_LETTERS].map((letter) => letter + form));
    forms.push(...shorter);
  }
  return forms;
}

/** What is left of a word, folded as the index is, behind one letter to three: all that a search may find it by, but the word itself. */
export function stemsOf(word: string): string[] {
  const stems: string[] = [];
  for (let at = 1; at <= MAX_PREFIX_LETTERS && PREFIX_LETTERS.includes(word.charAt(at - 1)); at++) {
    const stem = word.slice(at);
    if (!hebrewWord.test(stem)) break;
    stems.push(stem);
  }
  return stems;
}

/** How often a word stands in a folded text. @param word with a space at each end, which neighbours share */
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
