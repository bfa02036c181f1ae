import type { TextSearch } from '../../../query/model/filter.ts';

/** Sensitivity of a search; a full-text index is insensitive to both. */
export type Folding = Pick<TextSearch, 'caseSensitive' | 'diacriticSensitive'>;

/**
 * Characters of a text that a full-text index covers, from its beginning. Indexing these takes up to 100 ms of the event loop, and a text may be
 * forty times as long. No search finds what follows, however it is executed.
 */
export const MAX_INDEXED_LENGTH = 512 * 1024;

/** Returns the part of a text that is indexed. Counts code points, as databases do. */
export function indexedPart(text: string): string {
  if (text.length <= MAX_INDEXED_LENGTH) return text;
  let end = 0;
  for (let count = 0; count < MAX_INDEXED_LENGTH && end < text.length; count++)
    end += (text.codePointAt(end) as number) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

/** How the words of a full-text index are folded. */
export const indexFolding: Folding = { caseSensitive: false, diacriticSensitive: false };

const separators = /[^\p{L}\p{N}\p{M}\p{Co}]+/gu;
const marks = /\p{M}/gu;

/** More marks on one letter than any script uses. Normalisation sorts n of them in n² steps, which no time limit interrupts. */
const piledMarks = /(\p{M}{32})\p{M}+/gu;

/** Characters that have no marks and are none. */
const unmarked = /^[\0-\x7f\u05d0-\u05ea]*$/;

/** Returns the words of a text separated by single spaces, with one at each end, so that plain substring search finds whole words and phrases. */
export function words(text: string, folding: Folding): string {
  const isPlain = unmarked.test(text);
  const plain = isPlain ? text : text.replace(piledMarks, '$1');
  // The final form of sigma is the same letter.
  let folded = folding.caseSensitive ? plain : plain.toLowerCase().replaceAll('ς', 'σ');
  if (!isPlain) folded = folding.diacriticSensitive ? folded.normalize('NFC') : folded.normalize('NFD').replace(marks, '');
  return ` ${folded.replace(separators, ' ').trim()} `;
}
