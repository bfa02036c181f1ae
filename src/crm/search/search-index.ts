import { MINUTE_MS } from '../../kernel/time.ts';
import type { Filter } from '../../query/model/filter.ts';
import type { SchemaChange } from '../../schema/change.ts';
import { fieldOf, type Schema, type TableSchema } from '../../schema/model.ts';
import { fillsSearchIndex, hasSearchIndex, SEARCH_INDEX, wantedSearchIndex } from '../../schema/search-index.ts';
import type { Store } from '../../storage/port.ts';
import { rowsOf } from '../../storage/text-values.ts';

/** Tables up to this size are scanned, in about 30 ms. Larger ones have an index; of these, this many newest records are scanned as well. */
export const MAX_SCANNED_RECORDS = 5_000;

/** Delay before a table is examined again after it was too small for an index or the index could not be built. */
const RETRY_DELAY_MS = MINUTE_MS;

/** The indexed fields for which a table was examined, and on the monotonic clock when it may be examined again. */
interface Examination {
  readonly fields: string;
  until: number;
}

/** By store and table. */
const examinations = new WeakMap<Store, Map<string, Examination>>();

/**
 * Builds and fills the search index of a table if it has more than `MAX_SCANNED_RECORDS` records and no up-to-date index. Concurrent calls, and calls
 * within a minute, return without doing anything.
 * @param shouldStop whether to stop early; a later call continues
 */
export async function ensureSearchIndex(store: Store, className: string, shouldStop = () => false): Promise<void> {
  const table = store.schema().tables.get(className);
  const wanted = table && wantedSearchIndex(table);
  if (!table || !wanted || hasSearchIndex(table)) return;
  const due = examinations.get(store) ?? new Map<string, Examination>();
  examinations.set(store, due);
  const fields = wanted.keys.join();
  const last = due.get(className);
  if (last?.fields === fields && performance.now() < last.until) return;
  const examination: Examination = { fields, until: Number.POSITIVE_INFINITY };
  due.set(className, examination);
  try {
    await makeSearchIndex(store, table, shouldStop);
  } finally {
    examination.until = performance.now() + RETRY_DELAY_MS;
  }
}

/** Ensures the search indexes of all tables of a system, one after another. @param shouldStop polled to stop early */
export async function ensureSearchIndexes(store: Store, shouldStop: () => boolean): Promise<void> {
  for (const className of store.schema().tables.keys()) {
    if (shouldStop()) return;
    await ensureSearchIndex(store, className, shouldStop);
  }
}

async function makeSearchIndex(store: Store, table: TableSchema, shouldStop: () => boolean): Promise<void> {
  const { className } = table;
  if (!fillsSearchIndex(table)) {
    if (!(await isLarge(store, table))) return;
    await store.write({ plan: (schema) => ({ changes: changesFor(schema, className), mutations: [] }) });
  }
  await store.fillSearchIndex(className, shouldStop);
}

/** Returns the changes that create the index, replacing one of outdated fields. */
function changesFor({ tables }: Schema, className: string): SchemaChange[] {
  const table = tables.get(className);
  const index = table && wantedSearchIndex(table);
  if (!table || !index || hasSearchIndex(table) || fillsSearchIndex(table)) return [];
  return [
    ...(table.indexes.has(SEARCH_INDEX) ? [{ kind: 'dropIndex', className, name: SEARCH_INDEX } as const] : []),
    { kind: 'setIndex', className, index: { ...index, isFilling: true } },
  ];
}

async function isLarge(store: Store, table: TableSchema): Promise<boolean> {
  const filter: Filter = { kind: 'always' };
  const shape = { includes: [], order: [], count: false, withScore: false };
  const query = { table, fields: [fieldOf(table, 'objectId')], filter, ...shape, skip: MAX_SCANNED_RECORDS, limit: 1 };
  return (await rowsOf(await store.reader.find(query, 'values'))).length > 0;
}
