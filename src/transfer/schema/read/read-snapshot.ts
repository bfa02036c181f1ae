import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { rowKinds } from '../model/rows.ts';
import { FORMAT, parts, type Snapshot, SnapshotFault, sorted } from '../model/snapshot.ts';
import { booleanAt, knownObjectAt, refuse } from './assertions.ts';
import { readLabels, withFieldLabels } from './labels.ts';
import { readPermissions } from './permissions.ts';
import { readConfig, readNamedRows, readRoles } from './rows.ts';
import { type ReadTable, readTables } from './tables.ts';

/**
 * Parses a snapshot: `{format, complete?, tables?, permissions?, …}`.
 * Reference: schema-as-code.md#the-snapshot.
 * @throws SnapshotFault for a later format, unknown keys and values of another form; what depends on the system is checked by the diff
 */
export function readSnapshot(value: JsonValue): Snapshot {
  checkFormat(value);
  const body = knownObjectAt(value, [], ['format', 'complete', ...parts]);
  const isComplete = booleanAt(body, 'complete', []);
  const read = <T>(part: (typeof parts)[number], reader: (value: JsonValue, place: readonly string[]) => T): T | undefined => {
    const given = own(body, part);
    return given === undefined ? undefined : reader(given, [part]);
  };
  const tables = read('tables', readTables);
  const permissions = read('permissions', readPermissions);
  const roles = read('roles', readRoles);
  const triggers = read('triggers', (given, place) => readNamedRows(rowKinds.triggers, given, place));
  const reports = read('reports', (given, place) => readNamedRows(rowKinds.reports, given, place));
  const config = read('config', readConfig);
  return {
    isComplete,
    ...(tables && { tables: new Map(sorted(tables).map(([name, { table }]) => [name, table])) }),
    ...(permissions && { permissions: permissionsOf(permissions, tables) }),
    ...labelsOf(read('labels', readLabels), tables),
    ...(roles && { roles }),
    ...(triggers && { triggers }),
    ...(reports && { reports }),
    ...(config && { config }),
  };
}

/** Before all else: a later form may have anything. */
function checkFormat(value: JsonValue): void {
  if (!isJsonObject(value)) throw new SnapshotFault([], 'it is not an object');
  const format = own(value, 'format') ?? FORMAT;
  if (typeof format !== 'number' || !Number.isInteger(format) || format < 1) refuse(['format'], 'is not a number from 1');
  if (format > FORMAT) refuse(['format'], `is ${format}: this version of the service reads up to ${FORMAT}`);
}

type Tables = ReadonlyMap<string, ReadTable>;

function permissionsOf(
  { tables, profiles }: ReturnType<typeof readPermissions>,
  described: Tables | undefined,
): ReadonlyMap<string, JsonObject> {
  const all = new Map(tables);
  for (const [className, { access }] of described ?? []) {
    if (access === undefined) continue;
    const profile = profiles.get(access) ?? refuse(['tables', className, 'access'], 'is no profile of the permissions');
    if (tables.has(className)) refuse(['tables', className, 'access'], 'stands beside permissions of the table itself');
    all.set(className, profile);
  }
  return new Map(sorted(all));
}

function labelsOf(
  listed: ReturnType<typeof readLabels> | undefined,
  tables: Tables | undefined,
): Pick<Snapshot, 'labels' | 'labelsOfFieldsOnly'> {
  const beside = [...(tables ?? [])].map(([className, { labels }]) => [className, labels] as const);
  if (!listed && beside.every(([, labels]) => labels.size === 0)) return {};
  const labels = new Map(sorted(withFieldLabels(listed ?? new Map(), beside)));
  return { labels, ...(!listed && { labelsOfFieldsOnly: true }) };
}
