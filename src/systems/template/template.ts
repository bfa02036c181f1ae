import { readdir } from 'node:fs/promises';
import { readTextFile } from '../../kernel/file-reads.ts';
import { newObjectId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isDescribed } from '../../schema/system-tables.ts';
import { type AccessProfile, permissionsOf, readTableFile, type TableFile } from './template-table.ts';

/** A first table of a new system. */
export interface TemplateTable {
  readonly className: string;
  /** As in POST schemas: fields, classLevelPermissions, timeline, indexes. */
  readonly definition: JsonObject;
  /** Its first records, in wire form, each with an objectId: generated if the file has none. */
  readonly rows: readonly JsonObject[];
}

// The folder is in the package root, three levels above both src/systems/template and dist/systems/template.
const folder = new URL('../../../template/', import.meta.url);
const tables = new URL('tables/', folder);

/** The table of the labels of all fields (system-tables.md#_dictionary). */
const dictionary = '_Dictionary';

/**
 * Reads `template/`: `tables/<name>.json`, one for each table; `permissions.json`, the profiles that `access` names; `default-fields.json`,
 * labels of the fields that every table has. Labels become rows of `_Dictionary`.
 * @returns the tables by name
 * @throws Error for a malformed file, which is a bug
 */
export async function readTemplate(): Promise<TemplateTable[]> {
  const [permissions, defaultLabels] = await Promise.all([
    readJson<Record<string, AccessProfile>>('permissions.json'),
    readJson<Record<string, string>>('default-fields.json'),
  ]);
  const profiles = new Map(Object.entries(permissions));
  const names = await tableNames();
  const files = await Promise.all(
    names.sort().map(async (name): Promise<[string, TableFile]> => {
      return [name, readTableFile(name, await readJson<JsonObject>(`tables/${name}.json`), profiles)];
    }),
  );
  const labels = files.flatMap(([name, file]) => labelRows(name, [...Object.entries(defaultLabels), ...file.labels]));
  return files.map(([className, { definition, rows }]) => ({
    className,
    definition,
    rows: [...rows, ...(className === dictionary ? labels : [])].map((row) => ({ objectId: newObjectId(), ...row })),
  }));
}

/** Returns the names of the tables that hold lists of values, such as statuses (tables.md). */
export async function lookupTables(): Promise<ReadonlySet<string>> {
  const named = (await tableNames()).map(async (name) => ({ name, file: await readJson<JsonObject>(`tables/${name}.json`) }));
  return new Set((await Promise.all(named)).filter(({ file }) => file.access === 'lookup').map(({ name }) => name));
}

async function tableNames(): Promise<string[]> {
  return (await readdir(tables)).filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length));
}

/** Defaults of a new table for business records (permissions.md#permissions-of-a-new-system). */
export interface TableDefaults {
  /** As in POST schemas. */
  readonly classLevelPermissions: JsonObject;
  /** Labels of the fields that every table has, by field. */
  readonly labels: ReadonlyMap<string, string>;
}

/** @param roles the names of the existing roles: permissions name no others */
export async function readTableDefaults(roles: ReadonlySet<string>): Promise<TableDefaults> {
  const [permissions, labels] = await Promise.all([
    readJson<Record<string, AccessProfile>>('permissions.json'),
    readJson<Record<string, string>>('default-fields.json'),
  ]);
  const { read, write, addField } = permissions.shared as AccessProfile;
  const [reads, writes, adds] = [read, write, addField].map((names) => names.filter((name) => roles.has(name)));
  return {
    classLevelPermissions: permissionsOf({ read: reads ?? [], write: writes ?? [], addField: adds ?? [] }),
    labels: new Map(Object.entries(labels)),
  };
}

const labelRows = (tblName: string, labels: readonly [string, string][]): JsonObject[] =>
  labels.filter(([field]) => isDescribed(tblName, field)).map(([field, value]) => ({ tblName, field, value }));

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readTextFile(new URL(path, folder)));
}
