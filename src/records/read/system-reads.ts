import type { Filter, OrderKey } from '../../query/model/filter.ts';
import type { Selection } from '../../query/model/selection.ts';
import { type Field, fieldOf, type TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { rowsOf, valueOfText } from '../../storage/text-values.ts';
import { storageOf } from '../../values/index.ts';
import { underSchema } from './find.ts';

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
  /** Of all records together; what one text in memory may have where it is left out. */
  readonly mostCharacters?: number;
}

/** Records in wire form. Never for an answer: see `find.ts`. @throws resultTooLarge (116) where they are more than memory should hold */
export async function readRows<Row>(store: Store, query: OwnQuery): Promise<Row[]> {
  const { className, fields, filter, orderBy, limit, mostCharacters } = query;
  return underSchema(store, async (schema) => {
    const table = schema.tables.get(className);
    const wanted = table && filter(table);
    if (!table || !wanted) return [];
    const query = {
      table,
      fields: fieldsOf(table, fields),
      filter: wanted,
      includes: [],
      order: orderOf(table, orderBy),
      skip: 0,
      limit: limit ?? Number.POSITIVE_INFINITY,
      count: false,
      withScore: false,
    };
    if (mostCharacters === undefined) return rowsOf<Row>(await store.reader.find(query, true));
    return valueOfText<Row[]>((await store.reader.find(query)).results, mostCharacters);
  });
}

/** How many records match. */
export function countOwn(store: Store, { className, filter }: Pick<OwnQuery, 'className' | 'filter'>): Promise<number> {
  return underSchema(store, async (schema) => {
    const table = schema.tables.get(className);
    const wanted = table && filter(table);
    if (!table || !wanted) return 0;
    const none = { fields: fieldsOf(table, []), includes: [], order: orderOf(table, undefined), skip: 0, limit: 0 };
    const found = await store.reader.find({ table, filter: wanted, count: true, withScore: false, ...none }, true);
    return found.count ?? 0;
  });
}

/** One record of a table by what a text field holds. */
export interface TextQuery {
  readonly className: string;
  readonly field: string;
  readonly value: string;
  readonly fields: readonly string[];
  /** As in `OwnQuery`. */
  readonly orderBy?: string;
}

/** The first record whose field holds a text, in wire form; `null` where there is none, or the table has no such field of text. */
export async function readFirst<Row>(store: Store, { field: name, value, ...query }: TextQuery): Promise<Row | null> {
  const filter = (table: TableSchema): Filter | null => {
    const field = table.fields.get(name);
    return field && storageOf(field) === 'text' ? { kind: 'compare', field, op: 'eq', value } : null;
  };
  const [row] = await readRows<Row>(store, { ...query, filter, limit: 1 });
  return row ?? null;
}

/** Selections of single records by table, and by the list of fields. Engines compile each once. */
const selections = new WeakMap<TableSchema, WeakMap<readonly string[], Selection>>();

/**
 * One record in wire form; `null` where there is none. Never for an answer, as `readRows`. At once where the store is embedded.
 * @param fields the same list each time, since the read is remembered by it; fields that the table has not are passed over
 */
export async function readRow<Row>(
  store: Store,
  className: string,
  fields: readonly string[],
  objectId: string,
): Promise<Row | null> {
  return underSchema(store, async (schema) => {
    const table = schema.tables.get(className);
    const text = table ? await store.reader.get(selectionOf(table, fields), objectId) : null;
    return text === null ? null : valueOfText<Row>(text);
  });
}

function selectionOf(table: TableSchema, names: readonly string[]): Selection {
  const ofTable = selections.get(table) ?? new WeakMap<readonly string[], Selection>();
  selections.set(table, ofTable);
  let selection = ofTable.get(names);
  if (!selection) {
    selection = { table, fields: fieldsOf(table, names), filter: { kind: 'always' }, includes: [] };
    ofTable.set(names, selection);
  }
  return selection;
}

const fieldLists = new WeakMap<TableSchema, Map<string, readonly Field[]>>();

/** One list for the same names, by which engines remember how its rows are written. */
function fieldsOf(table: TableSchema, names: readonly string[]): readonly Field[] {
  const ofTable = fieldLists.get(table) ?? new Map<string, readonly Field[]>();
  fieldLists.set(table, ofTable);
  const key = names.join();
  let fields = ofTable.get(key);
  if (!fields) {
    fields = names.map((name) => table.fields.get(name)).filter((field) => field !== undefined);
    ofTable.set(key, fields);
  }
  return fields;
}

function orderOf(table: TableSchema, name: string | undefined): readonly OrderKey[] {
  return name === undefined ? [] : [{ kind: 'field', ref: { field: fieldOf(table, name), path: [] }, descending: false }];
}
