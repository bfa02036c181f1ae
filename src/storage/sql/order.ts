import type { Filter, OrderKey } from '../../query/filter.ts';
import { findSearch } from '../../query/text.ts';
import { storageOf } from '../../values/index.ts';
import { isRequired } from './predicate.ts';
import { isGuarded } from './timing-safe-filter.ts';
import type { SqlWriter } from './writer.ts';

/**
 * Writes the terms of ORDER BY: absent values first ascending and last descending (docs/decisions.md). Without keys, the order of creation.
 * @param filter the query's, which holds the `$text` that a score speaks of
 */
export function writeOrder(out: SqlWriter, order: readonly OrderKey[], filter: Filter, alias: string): void {
  const before = out.text.length;
  const scored = order.some((key) => key.kind === 'score') && findSearch(filter) !== undefined;
  for (const key of order) {
    if (key.kind === 'score' ? !scored : storageOf(key.ref.field) === 'relation') continue;
    if (out.text.length > before) out.add(', ');
    writeKey(out, key, filter, alias);
  }
  if (out.text.length === before) out.column(alias, '_seq');
}

function writeKey(out: SqlWriter, key: OrderKey, filter: Filter, alias: string): void {
  if (key.kind === 'score') {
    // `order=$score` asks for the most relevant first, as in Parse.
    writeScore(out, filter, alias);
    out.add(key.descending ? '' : ' DESC').add(out.dialect.nulls(!key.descending));
    return;
  }
  if (storageOf(key.ref.field) === 'json') out.dialect.jsonOrder(out, alias, key.ref);
  else out.column(alias, key.ref.field.column);
  out.add(key.descending ? ' DESC' : '');
  // Databases read an index in an order that says just what the index says, of columns that are never absent too.
  if (!isRequired(key.ref.field)) out.add(out.dialect.nulls(key.descending));
}

/**
 * The relevance of a record to the query's `$text`, higher for better; NULL where there is none. For a caller that may see only some
 * records it is that of the record by itself: how rare a word is in all of them would tell of those that are hidden.
 */
export function writeScore(out: SqlWriter, filter: Filter, alias: string): void {
  const found = findSearch(filter);
  if (found) out.dialect.score(out, alias, found.table, found.search, isGuarded(filter));
  else out.add('NULL');
}
