import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import type { Filter } from '../../query/model/filter.ts';
import { type Field, fieldOf, type Schema, type TableSchema } from '../../schema/model.ts';
import type { Assignment, Condition, Mutation, Store } from '../../storage/port.ts';
import { type StoredValue, storageOf } from '../../values/index.ts';
import type { FollowedNames, Renamed } from '../context/name-holder.ts';
import { readRows } from '../read/system-reads.ts';

/** Definitions that are read and rewritten before the event loop is yielded. */
const BATCH_SIZE = 50;
/** Maximum number of rows that the commit of a rename compares with those that were read. */
const MAX_COMPARED = 10_000;

/** A table of the service whose records name fields. */
export interface HoldingTable {
  readonly className: string;
  /** Returns which of its records may name fields; left out: all. */
  readonly filter?: (table: TableSchema) => Filter;
  /** The fields that `rewrite` reads, `objectId` included. */
  readonly fields: readonly string[];
  /** Returns the fields of a row, in wire form, with present names. Fields that are not returned stay. */
  rewrite(row: JsonObject): JsonObject;
  /** Records that do not follow. */
  readonly except: Renamed['except'];
  /** Returns the part of the answer for the rows that change. */
  describe(rows: readonly JsonObject[]): JsonObject;
}

interface Seen {
  readonly objectId: string;
  /** ISO 8601. */
  readonly updatedAt: string;
}

/** A row with those of its fields that change. */
interface Rewritten {
  readonly row: JsonObject;
  readonly seen: Seen;
  readonly values: JsonObject;
}

/** Reads the records of a table that name fields, and returns what a rename changes in them. @throws unavailable, timeout */
export async function followRows(store: Store, holding: HoldingTable): Promise<FollowedNames> {
  const { className, filter = () => ({ kind: 'always' }) } = holding;
  const seen = await readRows<Seen>(store, {
    className,
    fields: ['objectId', 'updatedAt'],
    filter,
  });
  const rewritten: Rewritten[] = [];
  for (let from = 0; from < seen.length; from += BATCH_SIZE) {
    if (from > 0) await nextTurn();
    rewritten.push(...(await rewrite(store, holding, seen.slice(from, from + BATCH_SIZE))));
  }
  return {
    changed: rewritten.length > 0 ? holding.describe(rewritten.map(({ row }) => row)) : {},
    conditions: (schema) => unchanged(schema.tables.get(className), filter, seen),
    steps: (schema) => rewritten.flatMap((row) => stepOf(schema, className, row)),
  };
}

async function rewrite(
  store: Store,
  { className, fields, rewrite, except }: HoldingTable,
  batch: readonly Seen[],
): Promise<Rewritten[]> {
  const among = (table: TableSchema): Filter => ({
    kind: 'in',
    field: fieldOf(table, 'objectId'),
    values: batch.map(({ objectId }) => objectId),
  });
  const rows = await readRows<JsonObject>(store, { className, fields, filter: among });
  return rows.flatMap((row) => {
    const seen = batch.find(({ objectId }) => objectId === row.objectId && !except?.has(objectId));
    const changed = Object.entries(rewrite(row)).filter(([name, value]) => !isSame(value, row[name]));
    return seen && changed.length > 0 ? [{ row, seen, values: Object.fromEntries(changed) }] : [];
  });
}

const isSame = (a: JsonValue, b: JsonValue | undefined): boolean => b !== undefined && JSON.stringify(a) === JSON.stringify(b);

/** Returns the condition that no record was added or changed since all were read. */
function unchanged(table: TableSchema | undefined, filterOf: (table: TableSchema) => Filter, seen: readonly Seen[]): Condition[] {
  if (!table || seen.length > MAX_COMPARED) return [];
  const [id, time] = [fieldOf(table, 'objectId'), fieldOf(table, 'updatedAt')];
  const among = (field: Field, values: readonly StoredValue[]): Filter => ({ kind: 'in', field, values: [...new Set(values)] });
  const known: Filter = {
    kind: 'and',
    items: [
      among(
        id,
        seen.map(({ objectId }) => objectId),
      ),
      among(
        time,
        seen.map(({ updatedAt }) => Date.parse(updatedAt)),
      ),
    ],
  };
  const mayName = filterOf(table);
  const filter: Filter = seen.length === 0 ? mayName : { kind: 'and', items: [mayName, { kind: 'not', item: known }] };
  return [{ kind: 'absent', table, filter, key: `names in ${table.className}` }];
}

function stepOf({ tables }: Schema, className: string, { seen, values }: Rewritten): Mutation[] {
  const table = tables.get(className);
  if (!table) return [];
  const time = fieldOf(table, 'updatedAt');
  // Later than before, also within one millisecond: caches of definitions go by it.
  const at = Math.max(Date.now(), Date.parse(seen.updatedAt) + 1);
  const assignments: Assignment[] = [{ kind: 'set', field: time, value: at }];
  for (const [name, value] of Object.entries(values)) {
    const field = table.fields.get(name);
    if (field) assignments.push({ kind: 'set', field, value: storedForm(field, value) });
  }
  const filter: Filter = { kind: 'compare', field: fieldOf(table, 'objectId'), op: 'eq', value: seen.objectId };
  return [{ kind: 'updateAll', table, filter, assignments }];
}

/** Definitions are texts, Arrays and Objects. */
const storedForm = (field: Field, value: JsonValue): StoredValue =>
  storageOf(field) === 'json' ? JSON.stringify(value) : (value as StoredValue);
