import type { TextSearch } from '../../../query/model/filter.ts';
import type { TableSchema } from '../../../schema/model.ts';
import type { SqlOut } from '../../sql/dialect.ts';

/** The name of the full-text table of a record table; its rowid is the record's `_seq`, its columns are the fields of the text index. */
export function ftsName(table: Pick<TableSchema, 'sqlName'>): string {
  return `${table.sqlName}~fts`;
}

/** Whether the search finds the record. The index folds case and diacritics; a search that minds them looks at the texts once more. */
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

/** A function of ours over the texts that the index covers. */
function writeTextFunction(out: SqlOut, name: string, alias: string, table: TableSchema, search: TextSearch): void {
  out.add(`${name}(`).bind(JSON.stringify(search));
  for (const field of table.textIndex) {
    const column = table.fields.get(field)?.column;
    if (column !== undefined) out.add(', ').column(alias, column);
  }
  out.add(')');
}

/** bm25 counts the hits of the whole index each time it starts, so it runs once for all records and they look theirs up. */
export function writeSearchScore(out: SqlOut, alias: string, table: TableSchema, search: TextSearch, alone: boolean): void {
  const match = matchText(search, false);
  if (match === null) {
    out.add('NULL');
    return;
  }
  if (alone) {
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

const phrase = (words: string) => `"${words.replaceAll('"', '""')}"`;
const anyOf = (words: readonly string[]) => `(${words.map(phrase).join(' OR ')})`;

/**
 * An FTS5 expression: every phrase, any term, no excluded word. Terms next to phrases need not occur, but raise the score.
 * @returns `null` for a search that finds nothing: one without terms and phrases
 */
export function matchText(search: TextSearch, excluding: boolean): string | null {
  const wanted = [...search.phrases, ...search.terms];
  if (wanted.length === 0) return null;
  const all = [...search.phrases.map(phrase), anyOf(wanted)].join(' AND ');
  return excluding && search.excluded.length > 0 ? `(${all}) NOT ${anyOf(search.excluded)}` : all;
}
