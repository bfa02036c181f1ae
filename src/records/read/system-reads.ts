import type { Filter, OrderKey } from '../../query/model/filter.ts';
import type { Selection } from '../../query/model/selection.ts';
import { type Field, fieldOf, type TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { rowsOf, valueOfText } from '../../storage/text-values.ts';
import { storageOf } from '../../values/index.ts';
import { retryOnSchemaChange } from './find.ts';

/** A read of the service itself: ignores permissions, and also reads fields that are hidden from every caller. */
export interface OwnQuery {
  readonly className: string;
  /** Fields that the table does not have are ignored. */
  readonly fields: readonly string[];
  /** Returns the filter; `null` if the table lacks a field that the filter needs, so that no record matches. */
  readonly filter: (table: TableSchema) => Filter | null;
  /** Field to sort by, ascending; left out: order of creation. */
  readonly orderBy?: string;
  /** Maximum number of records; left out: all. */
  readonly limit?: number;
  /** Maximum of all records together; left out: the bound of one text in memory. */
  readonly maxCharacters?: number;
}

/** Returns records in wire form. Never for an answer to a client: see `find.ts`. @throws resultTooLarge (116) if they exceed the memory bound */
export async function readRows<Row>(store: Store, query: OwnQuery): Promise<Row[]> {
  const { className, fields, filter, orderBy, limit, maxCharacters } = query;
  return retryOnSchemaChange(store, async (schema) => {
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
    if (maxCharacters === undefined) return rowsOf<Row>(await store.reader.find(query, 'values'));
    return valueOfText<Row[]>((await store.reader.find(query)).results, maxCharacters);
  });
}

/** Returns how many records match. */
export function countRows(store: Store, { className, filter }: Pick<OwnQuery, 'className' | 'filter'>): Promise<number> {
  return retryOnSchemaChange(store, async (schema) => {
    const table = schema.tables.get(className);
    const wanted = table && filter(table);
    if (!table || !wanted) return 0;
    const none = { fields: fieldsOf(table, []), includes: [], order: orderOf(table, undefined), skip: 0, limit: 0 };
    const found = await store.reader.find({ table, filter: wanted, count: true, withScore: false, ...none }, 'values');
    return found.count ?? 0;
  });
}

/** Finds one record of a table by the value of a text field. */
export interface TextQuery {
  readonly className: string;
  readonly field: string;
  readonly value: string;
  readonly fields: readonly string[];
  /** As in `OwnQuery`. */
  readonly orderBy?: string;
}

/** Returns the first record whose field equals a text, in wire form; `null` if there is none or the table has no such text field. */
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
 * Returns one record in wire form; `null` if there is none. Never for an answer to a client, like `readRows`. Without a reader thread on
 * the embedded engine, except for large records.
 * @param fields the same array object each time, since the compiled read is cached by it; fields that the table does not have are ignored
 */
export async function readRow<Row>(
  store: Store,
  className: string,
  fields: readonly string[],
  objectId: string,
): Promise<Row | null> {
  return retryOnSchemaChange(store, async (schema) => {
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

/** Returns the same array for the same names, by which engines cache how rows are written. */
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
