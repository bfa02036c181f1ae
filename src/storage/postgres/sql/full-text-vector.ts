import type { Field, TableSchema } from '../../../schema/model.ts';
import { storageOf } from '../../../values/index.ts';
import type { Companion } from '../../sql/dialect.ts';
import { stemsOf } from '../../sql/full-text/prefixes.ts';
import { indexedPart, indexFolding, words } from '../../sql/full-text/words.ts';

// What a tsvector holds (https://www.postgresql.org/docs/current/textsearch-limitations.html), a little less than the bounds.
const MAX_WORD_BYTES = 2046;
const MAX_POSITION = 16_382;
const MAX_POSITIONS = 255;
const MAX_VECTOR_BYTES = 1_000_000;

/**
 * Words that no text has, since they hold a separator. They say that the vector has not all positions, or not even all words of its
 * text, so that a search must look at the text itself.
 */
export const positionsMissing = '~p';
export const wordsMissing = '~w';

/** What a word of a text is found by behind its prefix letters, as the vector has it, without positions. No text has such a word. */
export const stemLexeme = (stem: string): string => quotedLexeme(`~${stem}`);

/** The column that holds the words of a field of a text index. */
export const vectorColumn = (field: Field): string => `v~${field.column}`;

/** The fields that the text index of a table covers. */
export function indexedFields(table: TableSchema): Field[] {
  return table.textIndex.flatMap((name) => table.fields.get(name) ?? []).filter((field) => storageOf(field) === 'text');
}

/** The words of a field, kept beside it for full-text search; `null` for fields that the text index of the table does not cover. */
export function companion(table: TableSchema, field: Field): Companion | null {
  if (!table.textIndex.includes(field.name) || storageOf(field) !== 'text') return null;
  return { column: vectorColumn(field), of: (value) => (typeof value === 'string' ? vectorOf(value) : null) };
}

/**
 * A tsvector, as PostgreSQL reads it, of the folded words of a text and their positions, and of what they are behind prefix letters: a search for
 * the 400 forms of a word would be read through the table, since the planner takes each form for a frequent one. Never too large: of a word, 2,046
 * bytes count; what else finds no place is left out, and the vector says so.
 */
export function vectorOf(text: string): string {
  const found = new Map<string, number[]>();
  const stems = new Set<string>();
  const missing = new Set<string>();
  let bytes = 0;
  let position = 0;
  for (const word of wordsIn(text)) {
    position += 1;
    const lexeme = cut(word);
    let positions = found.get(lexeme);
    if (!positions) {
      bytes += Buffer.byteLength(lexeme) + 4;
      for (const stem of stemsOf(word)) {
        if (stems.has(stem)) continue;
        bytes += Buffer.byteLength(stem) + 5;
        stems.add(stem);
      }
      if (bytes > MAX_VECTOR_BYTES) {
        missing.add(wordsMissing);
        break;
      }
      positions = [];
      found.set(lexeme, positions);
    }
    if (position > MAX_POSITION || positions.length >= MAX_POSITIONS || bytes > MAX_VECTOR_BYTES) {
      missing.add(positionsMissing);
      continue;
    }
    positions.push(position);
    bytes += 2;
  }
  const parts = [...[...missing].map(quotedLexeme), ...[...stems].map(stemLexeme)];
  for (const [lexeme, positions] of found)
    parts.push(positions.length > 0 ? `${quotedLexeme(lexeme)}:${positions.join(',')}` : quotedLexeme(lexeme));
  return parts.join(' ');
}

/** The words of a text as far as it is indexed, folded as they are in the index. */
export function wordsIn(text: string): string[] {
  return words(indexedPart(text), indexFolding)
    .split(' ')
    .filter((word) => word !== '');
}

/** A word in the notation of tsvector and tsquery. Words are letters, digits and marks, so that there is nothing to escape. */
export const quotedLexeme = (word: string): string => `'${cut(word)}'`;

/** A word as far as the index keeps it. */
export function cut(word: string): string {
  if (word.length * 3 <= MAX_WORD_BYTES || Buffer.byteLength(word) <= MAX_WORD_BYTES) return word;
  let bytes = 0;
  let kept = '';
  for (const char of word) {
    bytes += Buffer.byteLength(char);
    if (bytes > MAX_WORD_BYTES) break;
    kept += char;
  }
  return kept;
}
