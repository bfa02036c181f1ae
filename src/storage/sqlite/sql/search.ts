import type { SearchWords } from '../../../query/model/filter.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { SEARCH_INDEX } from '../../../schema/search-index.ts';
import type { SqlOut } from '../../sql/dialect.ts';

/** Returns the name of the full-text table that is the search index of a record table; its rowid is the record's `_seq`. */
export const searchTableName = ({ sqlName }: Pick<TableSchema, 'sqlName'>): string => `${sqlName}${SEARCH_INDEX}`;

/** Returns the name of the table that lists the records whose words are not yet in the index. */
export const changesName = (table: Pick<TableSchema, 'sqlName'>): string => `${searchTableName(table)}~changes`;

/**
 * Writes whether the record is among those that the index finds. The index does not distinguish fields, which halves its size; the records found are
 * checked afterwards.
 */
export function writeCandidates(
  out: SqlOut,
  alias: string,
  table: TableSchema,
  search: SearchWords,
  restrict: (alias: string) => void,
): void {
  const match = matchOf(search);
  if (match === null) {
    out.add('false');
    return;
  }
  const index = searchTableName(table);
  // CROSS JOIN fixes the order of the tables: the index first, so that the newest records come first.
  out
    .column(alias, '_seq')
    .add(' IN (SELECT id FROM (SELECT c.rowid AS id FROM ')
    .name(index)
    .add(' AS c CROSS JOIN ')
    .table(table.sqlName);
  out.add(' AS s WHERE c.').name(index).add(' MATCH ').bind(match).add(' AND s."_seq" = c.rowid');
  restrict('s');
  out
    .add(' ORDER BY c.rowid DESC LIMIT ')
    .bind(search.limit)
    .add(') UNION ALL SELECT seq FROM ')
    .name(changesName(table))
    .add(')');
}

function matchOf({ words, tokens, starts }: SearchWords): string | null {
  const any = [...tokens.map(quoted), ...starts.map(beginning)];
  if (words.length > 0)
    any.push(`(${words.map(({ word, isWhole }) => (isWhole ? quoted(word) : beginning(word))).join(' AND ')})`);
  return any.length === 0 ? null : any.join(' OR ');
}

const quoted = (token: string) => `"${token}"`;
const beginning = (word: string) => `"${word}" *`;
