import type { TextSearch } from '../../../query/model/filter.ts';
import type { TableSchema } from '../../../schema/model.ts';
import type { SqlOut } from '../../sql/dialect.ts';
import { withoutPoints } from '../../sql/full-text/hebrew-points.ts';
import { prefixedForms, prefixedWords } from '../../sql/full-text/hebrew-prefixes.ts';

/** Returns the name of the full-text table of a record table. Its rowid is the record's `_seq`, its columns are the fields of the text index. */
export function ftsName(table: Pick<TableSchema, 'sqlName'>): string {
  return `${table.sqlName}~fts`;
}

/** Writes whether the search finds the record. The index folds case and diacritics; a search that is sensitive to them checks the texts again. */
export function writeSearch(out: SqlOut, alias: string, table: TableSchema, search: TextSearch): void {
  const exact = search.caseSensitive || search.diacriticSensitive;
  const match = matchText(search, !exact);
  if (match === null) {
    out.add('false');
    return;
  }
  const fts = ftsName(table);
  out
    .add('(')
    .column(alias, '_seq')
    .add(' IN (SELECT rowid FROM ')
    .name(fts)
    .add(' WHERE ')
    .name(fts)
    .add(' MATCH ')
    .bind(match)
    .add(')');
  if (exact) writeTextFunction(out.add(' AND '), 'rds_text_match', alias, table, search);
  out.add(')');
}

/** Writes a call of one of our functions on the texts that the index covers. */
function writeTextFunction(out: SqlOut, name: string, alias: string, table: TableSchema, search: TextSearch): void {
  out.add(`${name}(`).bind(JSON.stringify(search));
  for (const field of table.textIndex) {
    const column = table.fields.get(field)?.column;
    if (column !== undefined) out.add(', ').column(alias, column);
  }
  out.add(')');
}

/**
 * bm25 counts the hits of the whole index each time it starts, so it runs once for all records, which look up their scores. It weighs each form of a
 * word separately, rare ones highest, so a search that includes prefix letters scores a record by its own words instead.
 */
export function writeSearchScore(out: SqlOut, alias: string, table: TableSchema, search: TextSearch, alone: boolean): void {
  const match = matchText(search, false);
  if (match === null) {
    out.add('NULL');
    return;
  }
  if (alone || prefixedWords(search).size > 0) {
    writeTextFunction(out, 'rds_text_score', alias, table, search);
    return;
  }
  const fts = ftsName(table);
  out.add('(WITH scores AS MATERIALIZED (SELECT rowid AS id, -bm25(').name(fts).add(') AS score FROM ').name(fts);
  out
    .add(' WHERE ')
    .name(fts)
    .add(' MATCH ')
    .bind(match)
    .add(') SELECT score FROM scores WHERE id = ')
    .column(alias, '_seq')
    .add(')');
}

/** Folded as in the index (`createTextIndex`). */
const phrase = (words: string) => `"${withoutPoints(words).replaceAll('"', '""')}"`;
const anyOf = (phrases: readonly string[]) => `(${phrases.join(' OR ')})`;

/** Returns a word and the forms with prefix letters by which it is found. */
function formsOf(word: string, prefixed: ReadonlySet<string>): string[] {
  return prefixed.has(word) ? [word, ...prefixedForms(withoutPoints(word))].map(phrase) : [phrase(word)];
}

/**
 * Returns an FTS5 expression: every phrase, any term, no excluded word. Terms next to phrases need not occur, but raise the score.
 * @returns `null` for a search without terms and phrases, which finds nothing
 */
export function matchText(search: TextSearch, excluding: boolean): string | null {
  if (search.phrases.length + search.terms.length === 0) return null;
  const prefixed = prefixedWords(search);
  const forms = (words: readonly string[]) => words.flatMap((word) => formsOf(word, prefixed));
  const phrases = search.phrases.map(phrase);
  const all = [...phrases, anyOf([...phrases, ...forms(search.terms)])].join(' AND ');
  return excluding && search.excluded.length > 0 ? `(${all}) NOT ${anyOf(forms(search.excluded))}` : all;
}
