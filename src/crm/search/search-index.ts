import { MINUTE_MS } from '../../kernel/time.ts';
import type { Filter } from '../../query/model/filter.ts';
import type { SchemaChange } from '../../schema/change.ts';
import { fieldOf, type Schema, type TableSchema } from '../../schema/model.ts';
import { fillsSearchIndex, hasSearchIndex, SEARCH_INDEX, wantedSearchIndex } from '../../schema/search-index.ts';
import type { Store } from '../../storage/port.ts';
import { rowsOf } from '../../storage/text-values.ts';

/** Records that are looked through in some 30 ms. Tables with more have an index; of these so many, made last, are looked through beside it. */
export const MAX_SCANNED_RECORDS = 5_000;

/** How long a table that was too small for an index, or whose index could not be made, is left alone. */
const PAUSE_MS = MINUTE_MS;

/** For which fields a table was looked at, and until when it is not looked at for these again, on the clock that never goes back. */
interface Look {
  readonly fields: string;
  until: number;
}

/** By store and table. */
const looked = new WeakMap<Store, Map<string, Look>>();

/**
 * Makes the search index of a table where it has more records than are looked through, and not the index that it should have, and has it filled.
 * Of calls meanwhile, and within a minute after, one does it.
 * @param isEnough whether it is to end as it is: a later call goes on
 */
export async function ensureSearchIndex(store: Store, className: string, isEnough = () => false): Promise<void> {
  const table = store.schema().tables.get(className);
  const wanted = table && wantedSearchIndex(table);
  if (!table || !wanted || hasSearchIndex(table)) return;
  const due = looked.get(store) ?? new Map<string, Look>();
  looked.set(store, due);
  const fields = wanted.keys.join();
  const last = due.get(className);
  if (last?.fields === fields && performance.now() < last.until) return;
  const look: Look = { fields, until: Number.POSITIVE_INFINITY };
  due.set(className, look);
  try {
    await makeSearchIndex(store, table, isEnough);
  } finally {
    look.until = performance.now() + PAUSE_MS;
  }
}

/** The same for all tables of a system, one after the other. @param isEnough whether the service ends: asked now and then */
export async function ensureSearchIndexes(store: Store, isEnough: () => boolean): Promise<void> {
  for (const className of store.schema().tables.keys()) {
    if (isEnough()) return;
    await ensureSearchIndex(store, className, isEnough);
  }
}

async function makeSearchIndex(store: Store, table: TableSchema, isEnough: () => boolean): Promise<void> {
  const { className } = table;
  if (!fillsSearchIndex(table)) {
    if (!(await isLarge(store, table))) return;
    await store.write({ plan: (schema) => ({ changes: changesFor(schema, className), mutations: [] }) });
  }
  await store.fillSearchIndex(className, isEnough);
}

/** Of other fields by now, the index is made anew. */
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
  return (await rowsOf(await store.reader.find(query, true))).length > 0;
}
