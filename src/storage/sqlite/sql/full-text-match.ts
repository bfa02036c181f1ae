import type { TextSearch } from '../../../query/filter.ts';

const separators = /[^\p{L}\p{N}\p{M}\p{Co}]+/gu;
const marks = /\p{M}/gu;

/** The words of a text between single spaces, one at each end, so that whole words and phrases are found by plain search. */
function words(text: string, search: TextSearch): string {
  let folded = search.caseSensitive ? text : text.toLowerCase();
  folded = search.diacriticSensitive ? folded.normalize('NFC') : folded.normalize('NFD').replace(marks, '');
  return ` ${folded.replace(separators, ' ').trim()} `;
}

/** Whether texts match a search that minds case or diacritics. Words are those of the full-text index (unicode61). */
export function textMatcher(search: TextSearch): (texts: readonly (string | null)[]) => boolean {
  const fold = (list: readonly string[]) => list.map((text) => words(text, search)).filter((text) => text.trim() !== '');
  const [terms, phrases, excluded] = [fold(search.terms), fold(search.phrases), fold(search.excluded)];
  return (texts) => {
    const folded = texts.map((text) => (text === null ? ' ' : words(text, search)));
    const found = (wanted: string) => folded.some((text) => text.includes(wanted));
    return (phrases.length > 0 || terms.some(found)) && phrases.every(found) && !excluded.some(found);
  };
}
