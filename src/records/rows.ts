import type { Filter } from '../query/filter.ts';
import { fieldOf, type TableSchema } from '../schema/model.ts';
import { type Store, wholeText } from '../storage/port.ts';
import { underSchema } from './replan.ts';

/** What the service reads for itself: beyond every permission, fields that exist for nobody too. */
export interface OwnQuery {
  readonly className: string;
  /** Fields that the table has not are passed over. */
  readonly fields: readonly string[];
  /** Which records; `null` where the table has not what is asked for, so that it has no such records. */
  readonly filter: (table: TableSchema) => Filter | null;
  /** The field by which records come, ascending; in the order of creation where it is left out. */
  readonly orderBy?: string;
  /** At most; all where it is left out. */
  readonly limit?: number;
}

/** Records in wire form. Never for an answer: see `read.ts`. */
export async function readRows<Row>(store: Store, { className, fields, filter, orderBy, limit }: OwnQuery): Promise<Row[]> {
  const text = await underSchema(store, async (schema) => {
    const table = schema.tables.get(className);
    const wanted = table && filter(table);
    if (!table || !wanted) return '[]';
    const { results } = await store.reader.find({
      table,
      fields: fields.map((name) => table.fields.get(name)).filter((field) => field !== undefined),
      filter: wanted,
      includes: [],
      order:
        orderBy === undefined ? [] : [{ kind: 'field', ref: { field: fieldOf(table, orderBy), path: [] }, descending: false }],
      skip: 0,
      limit: limit ?? Number.POSITIVE_INFINITY,
      count: false,
      withScore: false,
    });
    return wholeText(results);
  });
  return JSON.parse(text) as Row[];
}
