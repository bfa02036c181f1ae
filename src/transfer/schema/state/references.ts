import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import type { Filter } from '../../../query/model/filter.ts';
import { readRows } from '../../../records/index.ts';
import type { Schema, TableSchema } from '../../../schema/model.ts';
import { isHidden, isSystemTable } from '../../../schema/system-tables.ts';
import type { Store } from '../../../storage/port.ts';

/** The field by which records are named in a snapshot. */
const NAME = 'Name';

/** A record that a value points at: by its id in this system, or by its name. */
export interface Reference {
  readonly className: string;
  readonly objectId?: string;
  readonly name?: string;
}

/** Records of a table that values point at. */
interface Found {
  /** Names by id; `null` for a record without one. */
  readonly names: Map<string, string | null>;
  /** Ids by name. */
  readonly ids: Map<string, string[]>;
}

/**
 * Pointers inside triggers, reports, flags and default values. Ids differ between systems, so a snapshot names the record by its `Name`, if the
 * table has one of this name only: `{"__type":"Pointer","className":"LeadStatuses","Name":"New"}`. Users stay as they are.
 * Reference: schema-as-code.md#references.
 */
export class References {
  readonly #found: ReadonlyMap<string, Found>;

  private constructor(found: ReadonlyMap<string, Found>) {
    this.#found = found;
  }

  /** Reads the records that values point at. */
  static async read(store: Store, values: readonly JsonValue[]): Promise<References> {
    const wanted = new Map<string, Reference[]>();
    for (const value of values)
      for (const reference of referencesIn(value)) {
        const ofClass = wanted.get(reference.className);
        if (ofClass) ofClass.push(reference);
        else wanted.set(reference.className, [reference]);
      }
    const found = new Map<string, Found>();
    for (const [className, references] of wanted) found.set(className, await readFound(store, className, references));
    return new References(found);
  }

  /** Returns a value that names records by their names, if possible. */
  portable(value: JsonValue): JsonValue {
    return mapPointers(value, (pointer, { className, objectId = '' }) => {
      const of = this.#found.get(className);
      const name = of?.names.get(objectId);
      if (typeof name !== 'string' || of?.ids.get(name)?.length !== 1) return pointer;
      return { __type: 'Pointer', className, [NAME]: name };
    });
  }

  /** Returns a value with the ids of this system. A record that is not there, or not alone of its name, stays named. */
  resolved(value: JsonValue): JsonValue {
    return mapPointers(value, (pointer, { className, name }) => {
      const [objectId, other] = (name !== undefined && this.#found.get(className)?.ids.get(name)) || [];
      return objectId === undefined || other !== undefined ? pointer : { __type: 'Pointer', className, objectId };
    });
  }

  /** Returns the references of a value that lead nowhere. @param byName those by name, otherwise those by id */
  missing(value: JsonValue, byName: boolean): Reference[] {
    return referencesIn(value).filter(({ className, objectId, name }) => {
      const of = this.#found.get(className);
      if (name !== undefined) return byName && of?.ids.get(name)?.length !== 1;
      return !byName && objectId !== 'master' && !of?.names.has(objectId ?? '');
    });
  }
}

interface Row {
  readonly objectId: string;
  readonly Name?: string;
}

/** Records that one query looks for. */
const BATCH_SIZE = 1_000;

async function readFound(store: Store, className: string, references: readonly Reference[]): Promise<Found> {
  const named = isNamed(store.schema(), className);
  const found: Found = { names: new Map(), ids: new Map() };
  const fields = ['objectId', ...(named ? [NAME] : [])];
  const read = async (name: string, values: readonly string[]): Promise<Row[]> => {
    if (isHidden(className)) return [];
    const rows: Row[] = [];
    for (let from = 0; from < values.length; from += BATCH_SIZE) {
      const some = values.slice(from, from + BATCH_SIZE);
      rows.push(...(await readRows<Row>(store, { className, fields, filter: (table) => isOneOf(table, name, some) })));
    }
    return rows;
  };
  const ids = references.flatMap(({ objectId }) => objectId ?? []);
  for (const row of await read('objectId', [...new Set(ids)])) found.names.set(row.objectId, row.Name || null);
  if (!named) return found;
  const names = [...references.flatMap(({ name }) => name ?? []), ...[...found.names.values()].flatMap((name) => name ?? [])];
  for (const { objectId, Name = '' } of await read(NAME, [...new Set(names)]))
    found.ids.set(Name, [...(found.ids.get(Name) ?? []), objectId]);
  return found;
}

/** Whether records of a table are named: not those of the service, whose names (of users) are data of persons. */
const isNamed = ({ tables }: Schema, className: string): boolean =>
  !isSystemTable(className) && tables.get(className)?.fields.get(NAME)?.type === 'String';

function isOneOf({ fields }: TableSchema, name: string, values: readonly string[]): Filter | null {
  const field = fields.get(name);
  return field ? { kind: 'in', field, values } : null;
}

/** Returns the references in a value, at any depth. */
function referencesIn(value: JsonValue): Reference[] {
  const found: Reference[] = [];
  mapPointers(value, (pointer, reference) => {
    found.push(reference);
    return pointer;
  });
  return found;
}

function mapPointers(value: JsonValue, map: (pointer: JsonObject, reference: Reference) => JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((one) => mapPointers(one, map));
  if (!isJsonObject(value)) return value;
  const reference = referenceOf(value);
  if (reference) return map(value, reference);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapPointers(one, map)]));
}

function referenceOf(value: JsonObject): Reference | null {
  const [type, className, objectId, name] = ['__type', 'className', 'objectId', NAME].map((key) => own(value, key));
  if (type !== 'Pointer' || typeof className !== 'string') return null;
  if (typeof objectId === 'string') return { className, objectId };
  return typeof name === 'string' ? { className, name } : null;
}
