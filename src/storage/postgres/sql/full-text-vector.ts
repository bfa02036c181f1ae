import type { Field, TableSchema } from '../../../schema/model.ts';
import { storageOf } from '../../../values/index.ts';
import type { Companion } from '../../sql/dialect.ts';
import { stemsOf } from '../../sql/full-text/hebrew-prefixes.ts';
import { indexedPart, indexFolding, words } from '../../sql/full-text/words.ts';

// Limits of a tsvector (https://www.postgresql.org/docs/current/textsearch-limitations.html), with a margin.
const MAX_WORD_BYTES = 2046;
const MAX_POSITION = 16_382;
const MAX_POSITIONS = 255;
const MAX_VECTOR_BYTES = 1_000_000;

/**
 * Marker lexemes, which contain a separator and so occur in no text. They say that the vector lacks some positions, or even some words, of its
 * text, so that a search must check the text itself.
 */
export const positionsMissing = '~p';
export const wordsMissing = '~w';

/** Returns the lexeme, without positions, by which a word is found without its prefix letters. It occurs in no text. */
export const stemLexeme = (stem: string): string => quotedLexeme(`~${stem}`);

/** Returns the name of the column that holds the words of a field of the text index. */
export const vectorColumn = (field: Field): string => `v~${field.column}`;

/** Returns the fields that the text index of a table covers. */
export function indexedFields(table: TableSchema): Field[] {
  return table.textIndex.flatMap((name) => table.fields.get(name) ?? []).filter((field) => storageOf(field) === 'text');
}

/**
 * Returns the companion column of a field, which holds its words for full-text search; `null` for fields that the table's text index does not
 * cover.
 */
export function companion(table: TableSchema, field: Field): Companion | null {
  if (!table.textIndex.includes(field.name) || storageOf(field) !== 'text') return null;
  return { column: vectorColumn(field), of: (value) => (typeof value === 'string' ? vectorOf(value) : null) };
}

/**
 * Returns a tsvector literal of the folded words of a text with their positions, and of the stems that follow prefix letters: with a search for all
 * 400 prefixed forms of a word, the planner would scan the table, since it takes each form for a frequent one. Stays within PostgreSQL's limits:
 * words are cut at 2,046 bytes, what does not fit is left out, and marker lexemes say so.
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

/** Returns the words of the indexed part of a text, folded like the index. */
export function wordsIn(text: string): string[] {
  return words(indexedPart(text), indexFolding)
    .split(' ')
    .filter((word) => word !== '');
}

/** Returns a word in the notation of tsvector and tsquery. It needs no escaping: words consist of letters, digits and marks. */
export const quotedLexeme = (word: string): string => `'${cut(word)}'`;

/** Returns a word cut to the bytes that the index keeps. */
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
