import type { Filter } from '../../query/filter.ts';
import type { SqlWriter } from './writer.ts';

/** The `$text` of a filter by which relevance is measured: the first that a match may rest on. */
export function findSearch(filter: Filter): Extract<Filter, { kind: 'text' }> | undefined {
  if (filter.kind === 'text') return filter;
  if (filter.kind !== 'and' && filter.kind !== 'or') return undefined;
  for (const item of filter.items) {
    const found = findSearch(item);
    if (found) return found;
  }
  return undefined;
}

/** The relevance of a record to the query's `$text`, higher for better; NULL where there is none. */
export function writeScore(out: SqlWriter, filter: Filter, alias: string): void {
  const found = findSearch(filter);
  if (found) out.dialect.score(out, alias, found.table, found.search);
  else out.add('NULL');
}
