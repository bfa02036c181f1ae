import type { Schema, TableSchema } from '../../schema/model.ts';
import { columnFields } from '../../storage/column-values.ts';
import type { StoredRow } from '../../storage/raw-access.ts';
import { IdSet } from './id-set.ts';
import type { Share } from './shares.ts';

/** Ids looked up at a time. */
const MAX_IDS = 500;
/** What the JSON text of an Array or Object with Pointers contains. */
const POINTER = '"Pointer"';

/** Where the rows of a table hold what decides about them. */
interface Places {
  readonly id: number;
  readonly times: readonly number[];
  /** Pointers to tables of which only some records are taken. */
  readonly pointers: readonly (readonly [at: number, className: string])[];
  readonly json: readonly number[];
}

/** The records of one table. */
interface Records {
  readonly taken: IdSet;
  /** Pointed at by taken records, as far as they were not taken at that moment. */
  readonly wanted: IdSet;
  /** Number of `wanted` ids that were looked up. */
  lookedUp: number;
}

/**
 * Selects the records that were created or changed since a time, and what they point at, directly and through others: Pointers in fields, Arrays and
 * Objects. Reference: clone.md#recent-records.
 */
export class RecentRecords {
  readonly #since: number;
  readonly #shareOf: (className: string) => Share;
  readonly #records = new Map<string, Records>();
  readonly #places = new Map<string, Places>();

  /** @param since milliseconds since 1970 */
  constructor(since: number, schema: Schema, shareOf: (className: string) => Share) {
    this.#since = since;
    this.#shareOf = shareOf;
    for (const table of schema.tables.values()) {
      const { className } = table;
      if (shareOf(className) === 'none') continue;
      this.#places.set(className, this.#placesOf(table));
      if (shareOf(className) === 'recent') this.#records.set(className, { taken: new IdSet(), wanted: new IdSet(), lookedUp: 0 });
    }
  }

  #placesOf(table: TableSchema): Places {
    const fields = columnFields(table);
    const place = (name: string) => fields.findIndex((field) => field.name === name) + 1;
    const json: number[] = [];
    const pointers: (readonly [number, string])[] = [];
    for (const [at, { type, targetClass }] of fields.entries())
      if (type === 'Pointer' && targetClass !== undefined && this.#shareOf(targetClass) === 'recent')
        pointers.push([at + 1, targetClass]);
      else if (type === 'Array' || type === 'Object') json.push(at + 1);
    return { id: place('objectId'), times: [place('createdAt'), place('updatedAt')], pointers, json };
  }

  /** Returns the rows of a table that are taken. */
  of(className: string, rows: readonly StoredRow[]): readonly StoredRow[] {
    const places = this.#places.get(className);
    if (!places) return [];
    const records = this.#records.get(className);
    const { id, times } = places;
    const isTaken = (row: StoredRow) =>
      records === undefined ||
      times.some((at) => Number(row[at]) >= this.#since) ||
      (records.wanted.size > 0 && records.wanted.has(String(row[id])));
    const taken = rows.filter(isTaken);
    if (records) for (const row of taken) records.taken.add(String(row[id]));
    for (const row of taken) this.#follow(row, places);
    return taken;
  }

  #follow(row: StoredRow, { pointers, json }: Places): void {
    for (const [at, className] of pointers) {
      const id = row[at];
      if (typeof id === 'string') this.#want(className, id);
    }
    for (const at of json) {
      const text = row[at];
      if (typeof text === 'string' && text.includes(POINTER)) this.#followJson(JSON.parse(text));
    }
  }

  #followJson(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const { __type, className, objectId } = value as Record<string, unknown>;
    if (__type === 'Pointer' && typeof className === 'string' && typeof objectId === 'string') this.#want(className, objectId);
    else for (const member of Object.values(value)) this.#followJson(member);
  }

  #want(className: string, id: string): void {
    const records = this.#records.get(className);
    if (records && !records.taken.has(id)) records.wanted.add(id);
  }

  /** Returns some records of one table that are pointed at and were not looked up yet; `null` if there are none. */
  next(): { readonly className: string; readonly ids: readonly string[] } | null {
    for (const [className, records] of this.#records) {
      const ids: string[] = [];
      while (records.lookedUp < records.wanted.size && ids.length < MAX_IDS) {
        const id = records.wanted.at(records.lookedUp++);
        if (!records.taken.has(id)) ids.push(id);
      }
      if (ids.length > 0) return { className, ids };
    }
    return null;
  }

  /** Whether a record is taken. */
  has(className: string, id: string): boolean {
    const records = this.#records.get(className);
    return records ? records.taken.has(id) : this.#shareOf(className) === 'all';
  }
}

/** Sorts tables so that those come first which others point at: then fewer records have to be looked up by their ids. */
export function pointedAtFirst(tables: readonly TableSchema[]): TableSchema[] {
  const byName = new Map(tables.map((table) => [table.className, table]));
  const sorted = new Set<TableSchema>();
  const visited = new Set<TableSchema>();
  for (const first of tables) {
    // Without recursion, since chains of tables may be long.
    const stack: { readonly table: TableSchema; readonly rest: TableSchema[] }[] = [];
    const enter = (table: TableSchema) => {
      visited.add(table);
      const rest = [...table.fields.values()].flatMap(({ type, targetClass }) => {
        const target = type === 'Pointer' && targetClass !== undefined ? byName.get(targetClass) : undefined;
        return target ? [target] : [];
      });
      stack.push({ table, rest });
    };
    if (!visited.has(first)) enter(first);
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const next = top.rest.pop();
      if (next) {
        if (!visited.has(next)) enter(next);
        continue;
      }
      sorted.add(top.table);
      stack.pop();
    }
  }
  return [...sorted];
}
