import type { TextSearch } from '../../../query/model/filter.ts';
import type { Field, TableSchema } from '../../../schema/model.ts';
import type { SqlOut } from '../../sql/dialect.ts';
import { type FoldedTerm, foldedSearch } from '../../sql/full-text/folded-search.ts';
import { MAX_PREFIX_LETTERS, PREFIX_LETTERS } from '../../sql/full-text/hebrew-prefixes.ts';
import { indexFolding } from '../../sql/full-text/words.ts';
import { arrayLiteral } from './arrays.ts';
import { textFolder, writeFoldedTexts } from './full-text-texts.ts';
import { indexedFields, positionsMissing, quotedLexeme, stemLexeme, vectorColumn, wordsMissing } from './full-text-vector.ts';

/**
 * Writes whether a record contains every phrase, or without phrases any of the terms, and nothing excluded. The vectors fold case and diacritics; a
 * search sensitive to them also checks the texts. Reference: queries.md#text-search.
 */
export function writeSearch(out: SqlOut, alias: string, table: TableSchema, search: TextSearch): void {
  const fields = indexedFields(table);
  const { terms, phrases, excluded } = foldedSearch(search, indexFolding);
  // A phrase without words is found nowhere.
  if (fields.length === 0 || phrases.length < search.phrases.length || phrases.length + terms.length === 0) {
    out.add('false');
    return;
  }
  out.add('(');
  const required = phrases.length > 0 ? phrases.map((phrase) => [phrase]) : [terms];
  required.forEach((wanted, at) => {
    writeHolds(at > 0 ? out.add(' AND ') : out, alias, fields, wanted);
  });
  if (search.caseSensitive || search.diacriticSensitive) {
    writeTextsMatch(out.add(' AND '), alias, fields, search);
  } else if (excluded.length > 0) {
    writeHolds(out.add(' AND ('), alias, fields, excluded);
    out.add(') IS NOT TRUE');
  }
  out.add(')');
}

/** Writes whether a field contains any of the words or phrases, which are folded like the index. */
function writeHolds(out: SqlOut, alias: string, fields: readonly Field[], wanted: readonly FoldedTerm[]): void {
  writeMatches(out.add('('), alias, fields, wanted.map(matchQueryOf).join(' | '));
  // If the vector lacks some of a text's words or positions, check the text itself.
  const incomplete = [...new Set(wanted.map(incompleteQueryOf))].join(' | ');
  writeMatches(out.add(' OR ('), alias, fields, incomplete);
  writeFoldedTexts(out.add(' AND EXISTS ('), alias, fields, textFolder(indexFolding, wanted), incomplete);
  out.add('SELECT 1 FROM f WHERE ');
  writeAnyIn(out, wanted);
  out.add(')))');
}

function writeMatches(out: SqlOut, alias: string, fields: readonly Field[], query: string): void {
  fields.forEach((field, at) => {
    out.add(at > 0 ? ' OR ' : '(').column(alias, vectorColumn(field));
    out.add(' @@ ').bind(query).add('::tsquery');
  });
  out.add(')');
}

/** Returns a tsquery that matches the vectors in which a word or phrase is found. */
function matchQueryOf({ words, isPrefixed }: FoldedTerm): string {
  return isPrefixed ? `${queryOf(words, ' <-> ')} | ${stemLexeme(words.trim())}` : queryOf(words, ' <-> ');
}

function queryOf(phrase: string, operator: ' <-> ' | ' & '): string {
  const query = phrase.trim().split(' ').map(quotedLexeme).join(operator);
  return `(${query})`;
}

/** Returns a tsquery that matches the vectors that may lack a word or phrase. */
function incompleteQueryOf({ words }: FoldedTerm): string {
  const lexeme = quotedLexeme(wordsMissing);
  if (!words.trim().includes(' ')) return lexeme;
  return `${lexeme} | (${queryOf(words, ' & ')} & ${quotedLexeme(positionsMissing)})`;
}

/** Writes whether the texts match a search that is sensitive to case or diacritics, as `textMatcher` of storage/sql/full-text does. */
function writeTextsMatch(out: SqlOut, alias: string, fields: readonly Field[], search: TextSearch): void {
  const { terms, phrases, excluded } = foldedSearch(search);
  const folder = textFolder(search, [...terms, ...phrases, ...excluded]);
  writeFoldedTexts(out.add('EXISTS ('), alias, fields, folder);
  out.add('SELECT 1 WHERE ');
  if (phrases.length > 0) {
    out.add('NOT EXISTS (SELECT 1 FROM ');
    writeWanted(out, phrases);
    out.add(' WHERE NOT EXISTS (SELECT 1 FROM f WHERE strpos(f.f, w.w) > 0))');
  } else {
    out.add('EXISTS (SELECT 1 FROM f WHERE ');
    writeAnyIn(out, terms);
    out.add(')');
  }
  if (excluded.length > 0) {
    out.add(' AND NOT EXISTS (SELECT 1 FROM f WHERE ');
    writeAnyIn(out, excluded);
    out.add(')');
  }
  out.add(')');
}

function writeAnyIn(out: SqlOut, wanted: readonly FoldedTerm[]): void {
  writeWanted(out.add('EXISTS (SELECT 1 FROM '), wanted);
  out.add(' WHERE strpos(f.f, w.w) > 0 OR f.f ~ w.p)');
}

/** Writes a row source of the words `w` and a pattern `p` that finds them after prefix letters (else NULL). */
function writeWanted(out: SqlOut, wanted: readonly FoldedTerm[]): void {
  out.add('unnest(').bind(arrayLiteral(wanted.map(({ words }) => words)));
  out
    .add('::text[], ')
    .bind(arrayLiteral(wanted.map(prefixedPattern)))
    .add('::text[]) AS w(w, p)');
}

/** Needs no escaping: words consist of letters, digits and marks. */
function prefixedPattern({ words, isPrefixed }: FoldedTerm): string | null {
  return isPrefixed ? ` [${PREFIX_LETTERS}]{1,${MAX_PREFIX_LETTERS}}${words.slice(1)}` : null;
}
