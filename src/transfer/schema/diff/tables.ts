import { canonicalJson, type JsonObject } from '../../../kernel/json.ts';
import { isDefaultField } from '../../../schema/change.ts';
import { isSystemField, isSystemTable } from '../../../schema/system-tables.ts';
import { normalPermissions } from '../model/permissions.ts';
import { type FieldPart, type Snapshot, SnapshotFault, type TablePart } from '../model/snapshot.ts';
import type { Delta, MadeAndDropped, TableDelta } from './delta.ts';
import type { Renames } from './renames.ts';

const emptyTable: TablePart = {
  fields: new Map(),
  indexes: new Map(),
  uniqueIndexes: new Map(),
  textIndex: [],
  timeline: null,
};
const noPermissions = normalPermissions({});

/** Differences of tables. */
export type TablesDelta = Pick<Delta, 'tables' | 'gone'>;

/**
 * Compares tables and their permissions.
 * @param found once fields have been renamed
 * @throws SnapshotFault if the snapshot contradicts itself
 */
export function diffTables(found: Snapshot, wanted: Snapshot, renames: Renames, note: (text: string) => void): TablesDelta {
  const gone = goneFrom(found, wanted);
  const names = new Set([...(wanted.tables?.keys() ?? []), ...(wanted.permissions?.keys() ?? [])]);
  const tables: TableDelta[] = [];
  for (const className of [...names].sort()) {
    if (gone.includes(className)) continue;
    const [table, permissions] = [wanted.tables?.get(className), wanted.permissions?.get(className)];
    const before = found.tables?.get(className);
    const isNew = !(before || found.permissions?.has(className));
    if (isNew && !table) {
      note(`permissions of ${className}: there is no such table`);
      continue;
    }
    const delta = {
      className,
      isNew,
      renamed: [...(renames.get(className) ?? [])],
      ...diffTable(className, before ?? emptyTable, table ?? null),
      ...diffPermissions(isNew ? noPermissions : (found.permissions?.get(className) ?? null), permissions),
    };
    if (isNew || differs(delta)) tables.push(delta);
  }
  return { tables, gone };
}

/** Tables of the service stay: a snapshot of another version may lack them. */
function goneFrom(found: Snapshot, wanted: Snapshot): string[] {
  if (!wanted.isComplete || !wanted.tables) return [];
  return [...(found.tables?.keys() ?? [])].filter((name) => !wanted.tables?.has(name) && !isSystemTable(name));
}

type Differences = Omit<TableDelta, 'className' | 'isNew' | 'renamed' | 'permissions' | 'changedPermissions'>;

const same: Differences = {
  wanted: null,
  added: [],
  dropped: [],
  retyped: [],
  options: [],
  indexes: { made: [], dropped: [] },
  uniqueIndexes: { made: [], dropped: [] },
  hasNewTextIndex: false,
  hasNewTimeline: false,
};

function diffTable(className: string, found: TablePart, wanted: TablePart | null): Differences {
  if (!wanted) return same;
  checkNames(className, wanted, found);
  const fields = diffFields(className, found.fields, wanted.fields);
  return {
    wanted,
    ...fields,
    indexes: diffMaps(found.indexes, wanted.indexes, JSON.stringify),
    uniqueIndexes: diffMaps(found.uniqueIndexes, wanted.uniqueIndexes, JSON.stringify),
    hasNewTextIndex: found.textIndex.join() !== wanted.textIndex.join(),
    // The order of fields is that in which programs show them.
    hasNewTimeline: JSON.stringify(found.timeline) !== JSON.stringify(wanted.timeline),
  };
}

type Fields = TablePart['fields'];

function diffFields(
  className: string,
  found: Fields,
  wanted: Fields,
): Pick<Differences, 'added' | 'dropped' | 'retyped' | 'options'> {
  const added = [...wanted.keys()].filter((name) => !found.has(name));
  // What the service relies on is never dropped: a snapshot of another version may lack it.
  const dropped = [...found.keys()].filter((name) => !wanted.has(name) && !isSystemField(className, name));
  const both = [...wanted].flatMap(([name, to]) => {
    const from = found.get(name);
    return from ? [{ name, from, to }] : [];
  });
  const isRetyped = ({ from, to }: { from: FieldPart; to: FieldPart }) =>
    from.type !== to.type || from.targetClass !== to.targetClass;
  const retyped = both.filter(isRetyped);
  const options = both.filter((field) => !isRetyped(field) && optionsText(field.from) !== optionsText(field.to));
  return { added, dropped, retyped, options: options.map(({ name }) => name) };
}

const optionsText = ({ required, defaultValue }: FieldPart): string =>
  canonicalJson([required === true, ...(defaultValue === undefined ? [] : [defaultValue])]);

function diffMaps<V>(found: ReadonlyMap<string, V>, wanted: ReadonlyMap<string, V>, text: (value: V) => string): MadeAndDropped {
  const isSame = (name: string): boolean => {
    const [a, b] = [found.get(name), wanted.get(name)];
    return a !== undefined && b !== undefined && text(a) === text(b);
  };
  return {
    made: [...wanted.keys()].filter((name) => !isSame(name)),
    dropped: [...found.keys()].filter((name) => !isSame(name)),
  };
}

function diffPermissions(
  found: JsonObject | null,
  wanted: JsonObject | undefined,
): Pick<TableDelta, 'permissions' | 'changedPermissions'> {
  if (!wanted || !found) return { permissions: null, changedPermissions: [] };
  const keys = new Set([...Object.keys(found), ...Object.keys(wanted)]);
  const changedPermissions = [...keys].filter((key) => canonicalJson(found[key] ?? null) !== canonicalJson(wanted[key] ?? null));
  return { permissions: changedPermissions.length > 0 ? wanted : null, changedPermissions };
}

const differs = (delta: Omit<TableDelta, 'isNew'>): boolean =>
  [delta.renamed, delta.added, delta.dropped, delta.retyped, delta.options, delta.changedPermissions].some(
    ({ length }) => length > 0,
  ) ||
  [delta.indexes, delta.uniqueIndexes].some(({ made, dropped }) => made.length + dropped.length > 0) ||
  delta.hasNewTextIndex ||
  delta.hasNewTimeline;

/** Fields that only the system has do not count, unless the service relies on them. @throws SnapshotFault */
function checkNames(className: string, { fields, indexes, uniqueIndexes, textIndex }: TablePart, found: TablePart): void {
  const isField = (name: string) =>
    fields.has(name) || isDefaultField(name) || (found.fields.has(name) && isSystemField(className, name));
  const check = (place: readonly string[], names: readonly string[]) => {
    const other = names.find((name) => !isField(name));
    if (other !== undefined) throw new SnapshotFault(['tables', className, ...place], `names ${other}, which is no field here`);
  };
  for (const [name, keys] of indexes) check(['indexes', name], Object.keys(keys));
  for (const [name, index] of uniqueIndexes) check(['uniqueIndexes', name], index.fields);
  check(['textIndex'], textIndex);
}
