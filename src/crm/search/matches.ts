import type { JsonObject } from '../../kernel/json.ts';
import type { SearchWords } from '../../query/model/filter.ts';
import type { FindOptions } from '../../query/model/options.ts';
import type { TableSchema } from '../../schema/model.ts';
import { hasSearchIndex } from '../../schema/search-index.ts';
import type { CrmContext } from '../context.ts';
import { type Ask, findRows, type Row } from '../queries/records.ts';
import { ensureSearchIndex, MAX_SCANNED_RECORDS } from './search-index.ts';

/** Minimum number of records among which the most relevant are chosen. */
const MIN_RANKED = 200;

/** Constraints and options of a search; a record must meet one of the terms. */
interface Matches extends Pick<Ask, 'keys' | 'order' | 'limit'> {
  readonly terms: readonly JsonObject[];
}

/**
 * Returns the records of a table that meet one of the terms. Small tables are scanned. For large ones the search index supplies candidates; the
 * newest
 * records are scanned too, which also finds words inside other words (adr/0024). Reference: agents.md#search-and-duplicates.
 * @throws permissionDenied (119)
 */
export async function readMatches(
  context: CrmContext,
  table: TableSchema,
  { terms, ...options }: Matches,
  words: SearchWords | null,
): Promise<Row[]> {
  const { className } = table;
  const find = (among: readonly JsonObject[], within?: FindOptions['within']) => {
    const limit = within ? Math.max(options.limit, MIN_RANKED) : options.limit;
    return findRows(context, className, { ...options, limit, within, where: { $or: [...among] } });
  };
  if (terms.length === 0) return findRows(context, className, { ...options, limit: 0 });
  if (!hasSearchIndex(table)) {
    // Runs in the background; if it fails, a later search retries.
    ensureSearchIndex(context.store, className).catch(() => {});
    return find(terms);
  }
  if (words === null) return find(terms);
  // The objectId has an index of its own.
  const exact = terms.filter(({ objectId }) => objectId !== undefined);
  const [newest, named] = await Promise.all([
    find(terms, (grant) => ({ kind: 'newest', table: grant.table, count: MAX_SCANNED_RECORDS })),
    exact.length > 0 ? find(exact) : [],
  ]);
  // For words as frequent as this, the index would return most of the table.
  const others =
    newest.length >= MIN_RANKED
      ? []
      : await find(terms, (grant) => ({ kind: 'candidates', table: grant.table, search: words, guard: grant.rows }));
  return [...new Map([...named, ...newest, ...others].map((row) => [row.objectId, row])).values()];
}
