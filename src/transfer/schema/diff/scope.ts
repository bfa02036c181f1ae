import { similarTo } from '../../../kernel/similar.ts';
import type { Schema } from '../../../schema/model.ts';
import { type NamedRow, type Part, parts, type Scope, type Snapshot, SnapshotFault } from '../model/snapshot.ts';

/** Parts that say something of single tables. */
const ofTables: ReadonlySet<Part> = new Set(['tables', 'permissions', 'labels', 'triggers', 'reports']);

/** Returns the parts of a snapshot that are compared. @throws SnapshotFault for a part that was asked for and is not there */
export function partsIn(snapshot: Snapshot, { parts: wanted, only }: Scope): Part[] {
  const given = parts.filter((part) => snapshot[part] !== undefined);
  for (const part of wanted ?? []) if (!given.includes(part)) throw new SnapshotFault([part], 'are not in the snapshot');
  return given.filter((part) => (wanted?.includes(part) ?? true) && (only === undefined || ofTables.has(part)));
}

/** @throws SnapshotFault for a table that neither the snapshot nor the system has */
export function checkOnly(snapshot: Snapshot, schema: Schema, only: readonly string[]): void {
  const known = new Set([...(snapshot.tables?.keys() ?? []), ...(snapshot.permissions?.keys() ?? []), ...schema.tables.keys()]);
  for (const name of only) {
    if (known.has(name)) continue;
    const nearest = similarTo(name, [...known]);
    throw new SnapshotFault([], `only: there is no table ${name}${nearest === undefined ? '' : `; is ${nearest} meant?`}`);
  }
}

/** Returns the parts of a snapshot that are compared, and of them what concerns the named tables. */
export function scoped(snapshot: Snapshot, wanted: readonly Part[], only: readonly string[] | undefined): Snapshot {
  const names = only && new Set(only);
  const isNamed = (table: string) => names === undefined || names.has(table);
  const mapOf = <V>(part: Part, map: ReadonlyMap<string, V> | undefined) =>
    map && wanted.includes(part) ? new Map([...map].filter(([table]) => isNamed(table))) : undefined;
  const listOf = (part: Part, rows: readonly NamedRow[] | undefined) =>
    rows && wanted.includes(part) ? rows.filter(({ table }) => table === '' || isNamed(table)) : undefined;
  const { isComplete, labelsOfFieldsOnly } = snapshot;
  const kept = {
    tables: mapOf('tables', snapshot.tables),
    permissions: mapOf('permissions', snapshot.permissions),
    labels: mapOf('labels', snapshot.labels),
    roles: listOf('roles', snapshot.roles),
    triggers: listOf('triggers', snapshot.triggers),
    reports: listOf('reports', snapshot.reports),
    config: listOf('config', snapshot.config),
  };
  const given = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  return { isComplete, ...(labelsOfFieldsOnly && { labelsOfFieldsOnly }), ...given };
}
