import type { JsonObject } from '../../kernel/json.ts';
import type { SoughtWords } from '../../query/model/filter.ts';
import type { FindOptions } from '../../query/model/options.ts';
import type { TableSchema } from '../../schema/model.ts';
import { hasSearchIndex } from '../../schema/search-index.ts';
import type { CrmContext } from '../context.ts';
import { type Ask, findRows, type Row } from '../queries/records.ts';
import { ensureSearchIndex, MAX_SCANNED_RECORDS } from './search-index.ts';

/** Records of which the most relevant are taken, at least. */
const MIN_RANKED = 200;

/** What to read of the records that meet one of the terms. */
interface Matches extends Pick<Ask, 'keys' | 'order' | 'limit'> {
  readonly terms: readonly JsonObject[];
}

/**
 * The records of a table that meet one of the terms. Small tables are looked through. Of others (docs/adr/0024) those that the search index finds,
 * and of those that were made last also those that have a word inside of another.
 * @throws permissionDenied (119)
 */
export async function readMatches(
  context: CrmContext,
  table: TableSchema,
  { terms, ...asked }: Matches,
  sought: SoughtWords | null,
): Promise<Row[]> {
  const { className } = table;
  const find = (among: readonly JsonObject[], within?: FindOptions['within']) => {
    const limit = within ? Math.max(asked.limit, MIN_RANKED) : asked.limit;
    return findRows(context, className, { ...asked, limit, within, where: { $or: [...among] } });
  };
  if (terms.length === 0) return findRows(context, className, { ...asked, limit: 0 });
  if (!hasSearchIndex(table)) {
    // Nobody waits for it; where it cannot be made now, a later search tries again.
    ensureSearchIndex(context.store, className).catch(() => {});
    return find(terms);
  }
  if (sought === null) return find(terms);
  // Those have an index of their own.
  const exact = terms.filter(({ objectId }) => objectId !== undefined);
  const [newest, named] = await Promise.all([
    find(terms, (grant) => ({ kind: 'newest', table: grant.table, count: MAX_SCANNED_RECORDS })),
    exact.length > 0 ? find(exact) : [],
  ]);
  // Of words that so many records have an index would find most of the table.
  const others =
    newest.length >= MIN_RANKED
      ? []
      : await find(terms, (grant) => ({ kind: 'candidates', table: grant.table, sought, guard: grant.rows }));
  return [...new Map([...named, ...newest, ...others].map((row) => [row.objectId, row])).values()];
}
