/** Data directories of earlier versions, restored from SQL dumps. */
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';

const fixtures = new URL('./fixtures/', import.meta.url);

/** Paths of the registry and of the first system. */
export const registryOf = (dataDir: string): string => join(dataDir, 'registry.sqlite');
export const systemOf = (dataDir: string): string => join(dataDir, 'systems', 'testapp', 'records.sqlite');

/** Restores a fixture as a data directory. @param name a folder of fixtures/ */
export function makeDataDirectory(name: string): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'rds-migration-'));
  mkdirSync(join(dataDir, 'systems', 'testapp'), { recursive: true });
  restore(`${name}/registry.sql.gz`, registryOf(dataDir));
  restore(`${name}/testapp.sql.gz`, systemOf(dataDir));
  return dataDir;
}

function restore(dump: string, path: string): void {
  const db = new DatabaseSync(path);
  db.exec(`BEGIN; ${gunzipSync(readFileSync(new URL(dump, fixtures))).toString()}; COMMIT`);
  db.close();
}

/** Runs SQL on a database that no service has open. */
export function alter(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

/** Returns the versions of the catalogue and of the template of a system. */
export function versionsOf(path: string): { migration: number; template: number } {
  const db = new DatabaseSync(path, { readOnly: true });
  const row = db
    .prepare('SELECT user_version AS migration, templateVersion AS template FROM pragma_user_version, rds_catalog')
    .get();
  db.close();
  return { migration: Number(row?.migration), template: Number(row?.template) };
}

/** Returns the number of migrations, the number of schema changes, and the rows of each table. */
export function stateOf(path: string): { migration: unknown; changes: unknown; rows: Record<string, unknown> } {
  const db = new DatabaseSync(path, { readOnly: true });
  const value = (sql: string) => Object.values(db.prepare(sql).get() ?? {})[0];
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%~fts%' ORDER BY name").all();
  const rows = Object.fromEntries(tables.map(({ name }) => [name, value(`SELECT count(*) FROM "${name}"`)]));
  const state = {
    migration: value('PRAGMA user_version'),
    changes: value('SELECT changes FROM rds_catalog'),
    rows,
  };
  db.close();
  return state;
}

/** Returns the phone keys of the Accounts by objectId. A service may have the file open. */
export function phoneKeysOf(path: string): Record<string, unknown> {
  const db = new DatabaseSync(path, { readOnly: true });
  const rows = db.prepare('SELECT "objectId", "_phone_key" FROM "t_Accounts"').all();
  db.close();
  return Object.fromEntries(rows.map(({ objectId, _phone_key }) => [objectId, _phone_key]));
}
