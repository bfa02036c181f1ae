import { DatabaseSync } from 'node:sqlite';
import { StoreRefused } from '../../identity.ts';
import { type Level, pendingMigrations } from '../../migrations.ts';
import { stateOfFile } from './identity.ts';
import { levelOf } from './levels.ts';
import { catalogMigrations, registryMigrations } from './migrations.ts';

/** How long to wait for another process. */
const BUSY_TIMEOUT_MS = 5_000;

/** Returns the number of pending migrations of a registry, without changing its file. @throws OperatorError if a later version has changed it */
export function pendingOfRegistry(path: string): number {
  return reading(path, (db) => pendingMigrations(registryMigrations, engineLevel(db), path).length);
}

/** Returns how far a system's file is migrated, without changing it. @throws OperatorError if a later version has changed it */
export function levelsOf(path: string): { pending: number; system: Level } {
  return reading(path, (db) => {
    const pending = pendingMigrations(catalogMigrations, engineLevel(db), path).length;
    const { templateVersion } = db.prepare('SELECT templateVersion FROM rds_catalog').get() ?? {};
    return { pending, system: levelOf(db, 'system', Number(templateVersion)) };
  });
}

const engineLevel = (db: DatabaseSync): Level =>
  levelOf(db, 'engine', Number(db.prepare('PRAGMA user_version').get()?.user_version));

function reading<T>(path: string, read: (db: DatabaseSync) => T): T {
  // Opening an empty file deletes the WAL beside it, which may be all that is left of a store.
  const absent = stateOfFile(path);
  if (absent) throw new StoreRefused(absent, path);
  const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    return read(db);
  } finally {
    db.close();
  }
}
