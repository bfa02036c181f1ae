import type { Filter } from '../../query/filter.ts';
import { findSearch } from '../../query/text.ts';
import { isGuarded } from './timing-safe-filter.ts';
import type { SqlWriter } from './writer.ts';

/**
 * The relevance of a record to the query's `$text`, higher for better; NULL where there is none. For a caller who may see only some
 * records it is that of the record by itself: how rare a word is in all of them would tell of those that are hidden.
 */
export function writeScore(out: SqlWriter, filter: Filter, alias: string): void {
  const found = findSearch(filter);
  if (found) out.dialect.score(out, alias, found.table, found.search, isGuarded(filter));
  else out.add('NULL');
}
