import type { TextSearch } from '../../../query/model/filter.ts';

/** What a search minds; a full-text index minds neither. */
export type Folding = Pick<TextSearch, 'caseSensitive' | 'diacriticSensitive'>;

/**
 * Characters of a text that a full-text index holds, from its beginning: to index them takes up to 100 ms of the event loop, and a text may
 * have forty times as many. No search finds what follows, whichever way it is carried out.
 */
export const MAX_INDEXED_LENGTH = 512 * 1024;

/** A text as far as it is indexed. Characters are counted as databases count them: those of two UTF-16 units are one. */
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

/** More marks on one letter than any script has. To order n of them takes n² steps, and no time limit ends these. */
const piledMarks = /(\p{M}{32})\p{M}+/gu;

/** Characters that have no marks in them and are none. */
const unmarked = /^[\0-\x7f\u05d0-\u05ea]*$/;

/** The words of a text between single spaces, one at each end, so that whole words and phrases are found by plain search. */
export function words(text: string, folding: Folding): string {
  const isPlain = unmarked.test(text);
  const plain = isPlain ? text : text.replace(piledMarks, '$1');
  // A sigma at the end of a word is no letter of its own.
  let folded = folding.caseSensitive ? plain : plain.toLowerCase().replaceAll('ς', 'σ');
  if (!isPlain) folded = folding.diacriticSensitive ? folded.normalize('NFC') : folded.normalize('NFD').replace(marks, '');
  return ` ${folded.replace(separators, ' ').trim()} `;
}
