import type { Filter } from '../../query/filter.ts';
import { findSearch } from '../../query/text.ts';
import type { SqlWriter } from './writer.ts';

/** The relevance of a record to the query's `$text`, higher for better; NULL where there is none. */
export function writeScore(out: SqlWriter, filter: Filter, alias: string): void {
  const found = findSearch(filter);
  if (found) out.dialect.score(out, alias, found.table, found.search);
  else out.add('NULL');
}
