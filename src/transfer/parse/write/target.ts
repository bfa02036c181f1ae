import type { FileSystem } from '../../../files/index.ts';
import type { SchemaChange } from '../../../schema/change.ts';
import type { ClassLevelPermissions, TableSchema } from '../../../schema/model.ts';
import { derivedFieldsOf, importedHashesField } from '../../../schema/system-tables.ts';
import type { Store } from '../../../storage/port.ts';
import type { PlannedClass } from '../plan/plan.ts';

/** The target system. */
export type Target = Pick<FileSystem, 'appId' | 'store'>;

/** Tables created per commit. On PostgreSQL each takes about 20 locks, of some thousands available. */
const TABLES_PER_COMMIT = 20;

/** The plan for a class's table. */
export interface PlannedTable {
  readonly planned: PlannedClass;
  /** `null` keeps the present ones. */
  readonly permissions: ClassLevelPermissions | null;
}

/**
 * Creates tables and fields; existing ones stay. A new table gets its permissions in the same commit, so that it is never more open than in the
 * source.
 * @param hasHashes whether users have password hashes
 */
export async function prepareTables(store: Store, tables: readonly PlannedTable[], hasHashes: boolean): Promise<void> {
  const schema = store.schema();
  const isThere = ({ planned }: PlannedTable) => schema.tables.has(planned.className);
  const changed = tables.filter(isThere).flatMap((one) => changesOf(one, schema.tables.get(one.planned.className), hasHashes));
  await change(store, changed);
  const made = tables.filter((one) => !isThere(one));
  for (let from = 0; from < made.length; from += TABLES_PER_COMMIT)
    await change(
      store,
      made.slice(from, from + TABLES_PER_COMMIT).flatMap((one) => changesOf(one, undefined, hasHashes)),
    );
}

async function change(store: Store, changes: readonly SchemaChange[]): Promise<void> {
  if (changes.length > 0) await store.write({ plan: () => ({ changes, mutations: [] }) });
}

function changesOf({ planned, permissions }: PlannedTable, table: TableSchema | undefined, hasHashes: boolean): SchemaChange[] {
  const { className } = planned;
  const added = [...planned.added];
  for (const [source, { field }] of derivedFieldsOf(className))
    if (planned.fields.has(source) && !table?.fields.has(field)) added.push({ name: field, type: 'String' });
  if (className === '_User' && hasHashes && !table?.fields.has(importedHashesField))
    added.push({ name: importedHashesField, type: 'Boolean' });
  const changes: SchemaChange[] = table
    ? added.map((field) => ({ kind: 'addField', className, ...field }))
    : [{ kind: 'createTable', className, fields: added }];
  if (permissions) changes.push({ kind: 'setPermissions', className, permissions });
  return changes;
}

/**
 * Creates the indexes of a class, after its objects have been written.
 * @returns indexes that conflict with existing ones
 */
export async function makeIndexes(store: Store, { className, indexes: { indexes, textIndex } }: PlannedClass): Promise<string[]> {
  const table = store.schema().tables.get(className);
  if (!table) return [];
  const leftOut: string[] = [];
  const changes: SchemaChange[] = [];
  const known = new Map([...table.indexes.values()].map((index) => [index.name.toLowerCase(), index]));
  for (const index of indexes) {
    const other = known.get(index.name.toLowerCase());
    if (!other) changes.push({ kind: 'setIndex', className, index });
    else if (JSON.stringify(other.keys) !== JSON.stringify(index.keys))
      leftOut.push(`index ${className}.${index.name} (there is another one of this name)`);
  }
  if (textIndex.length > 0 && table.textIndex.length === 0) changes.push({ kind: 'setTextIndex', className, fields: textIndex });
  else if (textIndex.some((name) => !table.textIndex.includes(name)))
    leftOut.push(`text index of ${className} (there is another one)`);
  // One per commit, since each may take a while.
  for (const one of changes) await change(store, [one]);
  return leftOut;
}
