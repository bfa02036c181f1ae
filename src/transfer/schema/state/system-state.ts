import type { JsonValue } from '../../../kernel/json.ts';
import type { Schema } from '../../../schema/model.ts';
import type { Store } from '../../../storage/port.ts';
import { inRowOrder, normalBody, rowKinds } from '../model/rows.ts';
import { type NamedRow, type Part, type RowPart, rowParts, type Snapshot, type TablePart } from '../model/snapshot.ts';
import { labelsOf, readStoredLabels, type StoredLabels } from './labels.ts';
import { References } from './references.ts';
import { readStoredRows, type StoredRow } from './rows.ts';
import { permissionsOf, tablesOf } from './tables.ts';

/** What a system is made of: as a snapshot, and as the records that hold it. */
export interface SystemState {
  readonly parts: readonly Part[];
  readonly schema: Schema;
  readonly snapshot: Snapshot;
  readonly rows: ReadonlyMap<RowPart, readonly StoredRow[]>;
  readonly labels: StoredLabels;
  /** Of the state itself, and of the values that were given beside it. */
  readonly references: References;
}

/**
 * Reads what a system is made of. Not as of one moment: an apply checks in its commit that nothing has changed since.
 * @param wanted the parts to read
 * @param beside further values with references, such as those of a snapshot
 */
export async function readState(store: Store, wanted: readonly Part[], beside: readonly JsonValue[] = []): Promise<SystemState> {
  const has = (part: Part) => wanted.includes(part);
  await store.whenCurrent();
  const schema = store.durableSchema();
  const tables = has('tables') ? tablesOf(schema) : undefined;
  const read = new Map<RowPart, StoredRow[]>();
  for (const part of rowParts) if (has(part)) read.set(part, await readStoredRows(store, rowKinds[part]));
  const labels: StoredLabels = has('labels') ? await readStoredLabels(store) : new Map();
  const bodies = [...read.values()].flatMap((rows) => rows.map(({ body }) => body));
  const references = await References.read(store, [...bodies, ...defaultsOf(tables), ...beside]);
  const rows = new Map([...read].map(([part, stored]) => [part, portableRows(part, stored, references)]));
  const state = { parts: wanted, schema, rows, labels, references };
  return { ...state, snapshot: snapshotOf(state) };
}

/** Returns what a system is made of as a snapshot. */
export function snapshotOf({ parts, schema, rows, labels, references }: Omit<SystemState, 'snapshot'>): Snapshot {
  return {
    isComplete: true,
    ...(parts.includes('tables') && { tables: portableTables(tablesOf(schema), references) }),
    ...(parts.includes('permissions') && { permissions: permissionsOf(schema) }),
    ...(parts.includes('labels') && { labels: labelsOf(labels) }),
    ...Object.fromEntries(rows),
  };
}

/** Names the records that rows point at, and sorts the rows. */
export function portableRows<R extends NamedRow>(part: RowPart, rows: readonly R[], references: References): R[] {
  const kind = rowKinds[part];
  return inRowOrder(rows.map((row) => ({ ...row, body: normalBody(kind, references.portable(row.body) as NamedRow['body']) })));
}

/** Names the records that default values point at. */
export function portableTables(tables: ReadonlyMap<string, TablePart>, references: References): ReadonlyMap<string, TablePart> {
  const named = (table: TablePart): TablePart => {
    if (![...table.fields.values()].some(({ defaultValue }) => defaultValue !== undefined)) return table;
    const fields = [...table.fields].map(([name, field]) => {
      const { defaultValue } = field;
      return [name, defaultValue === undefined ? field : { ...field, defaultValue: references.portable(defaultValue) }] as const;
    });
    return { ...table, fields: new Map(fields) };
  };
  return new Map([...tables].map(([className, table]) => [className, named(table)]));
}

/** Returns the default values of all fields. */
export const defaultsOf = (tables: ReadonlyMap<string, TablePart> | undefined): JsonValue[] =>
  [...(tables?.values() ?? [])].flatMap(({ fields }) => [...fields.values()].flatMap(({ defaultValue }) => defaultValue ?? []));
