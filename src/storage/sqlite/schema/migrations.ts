import type { DatabaseSync } from 'node:sqlite';
import { type Level, levelAfter, type Migration, pendingMigrations } from '../../migrations.ts';
import { levelOf, makeLevels, saveReached } from './levels.ts';

/** A migration of our own tables inside a SQLite file. */
export interface SqliteMigration extends Migration {
  apply(db: DatabaseSync): void;
}

/** Migrations of the catalogue in each system's file. */
export const catalogMigrations: readonly SqliteMigration[] = [
  { number: 1, what: 'tables of the catalogue', apply: createCatalog },
  {
    number: 2,
    what: 'version of the template',
    apply: (db) => db.exec('ALTER TABLE rds_catalog ADD COLUMN templateVersion INTEGER NOT NULL DEFAULT 0'),
  },
  {
    number: 3,
    what: 'tables that logs have values of',
    apply: (db) =>
      db.exec(`
        ALTER TABLE rds_tables ADD COLUMN isCopied INTEGER NOT NULL DEFAULT 0;
        UPDATE rds_tables SET isCopied = 1 WHERE timeline IS NOT NULL;
      `),
  },
  // systems/migrations/009 recreates all text indexes.
  { number: 4, what: 'bound of what text indexes hold of a text', apply() {} },
  {
    number: 5,
    what: 'whose store it is',
    apply: (db) =>
      db.exec(`
        CREATE TABLE rds_store (
          one INTEGER PRIMARY KEY CHECK (one = 1), systemId TEXT NOT NULL, appId TEXT NOT NULL, birth TEXT NOT NULL,
          generation INTEGER NOT NULL, making TEXT
        )
      `),
  },
  {
    number: 6,
    what: 'options of fields, unique indexes',
    apply: (db) =>
      db.exec(`
        ALTER TABLE rds_fields ADD COLUMN options TEXT;
        ALTER TABLE rds_tables ADD COLUMN uniqueIndexes TEXT NOT NULL DEFAULT '[]';
      `),
  },
  {
    number: 7,
    what: 'former names of fields',
    apply: (db) =>
      db.exec(`
        ALTER TABLE rds_tables ADD COLUMN formerNames TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE rds_tables ADD COLUMN loggedNames TEXT NOT NULL DEFAULT '[]';
      `),
  },
  { number: 8, what: 'additive migrations', compatibleFrom: 7, apply: makeLevels },
];

/** Files from before migrations were numbered have the tables already. The earliest counted changes in another way, or not at all. */
function createCatalog(db: DatabaseSync): void {
  db.exec(`
    CREATE TABLE IF NOT EXISTS rds_tables (
      position INTEGER PRIMARY KEY, className TEXT NOT NULL UNIQUE, sqlName TEXT NOT NULL,
      permissions TEXT NOT NULL, timeline TEXT, indexes TEXT NOT NULL, textIndex TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS rds_fields (
      className TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, targetClass TEXT, columnName TEXT NOT NULL,
      PRIMARY KEY (className, name)
    ) WITHOUT ROWID;
    DROP TABLE IF EXISTS rds_removals;
  `);
  if (db.prepare("SELECT 1 FROM pragma_table_info('rds_catalog') WHERE name = 'changes'").get()) return;
  db.exec(`
    DROP TABLE IF EXISTS rds_catalog;
    CREATE TABLE rds_catalog (changes INTEGER NOT NULL, removals INTEGER NOT NULL);
    INSERT INTO rds_catalog VALUES (0, 0);
  `);
}

/** Migrations of the registry. */
export const registryMigrations: readonly SqliteMigration[] = [
  { number: 1, what: 'installation, systems, keys', apply: createRegistry },
  {
    number: 2,
    what: 'removed systems, moves, last uses of keys',
    apply: (db) =>
      db.exec(`
        ALTER TABLE installation ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE installation ADD COLUMN movedTo TEXT;
        ALTER TABLE installation ADD COLUMN movedAt INTEGER;
        ALTER TABLE systems ADD COLUMN deleteAfter INTEGER;
        ALTER TABLE keys ADD COLUMN lastUsedAt INTEGER;
      `),
  },
  {
    number: 3,
    what: "what is known of systems' stores",
    apply: (db) =>
      db.exec(`
        ALTER TABLE systems ADD COLUMN birth TEXT;
        ALTER TABLE systems ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE systems ADD COLUMN missingSince INTEGER;
        ALTER TABLE systems ADD COLUMN noticedAt INTEGER;
        ALTER TABLE systems ADD COLUMN damagedAt INTEGER;
      `),
  },
  {
    number: 4,
    what: 'systems that were exchanged or are held',
    apply: (db) =>
      db.exec(`
        ALTER TABLE systems ADD COLUMN place TEXT;
        ALTER TABLE systems ADD COLUMN formerAppId TEXT;
        ALTER TABLE systems ADD COLUMN heldAt INTEGER;
        CREATE UNIQUE INDEX systems_place ON systems (coalesce(place, appId) COLLATE NOCASE);
      `),
  },
  {
    number: 5,
    what: 'systems of other installations, backups by the clock',
    apply: (db) =>
      db.exec(`
        ALTER TABLE systems ADD COLUMN keySalt TEXT;
        ALTER TABLE installation ADD COLUMN backupTurn TEXT;
      `),
  },
  {
    number: 6,
    what: 'acts that are not delivered',
    compatibleFrom: 5,
    apply: (db) =>
      db.exec('CREATE TABLE undelivered_acts (id TEXT PRIMARY KEY, systemId TEXT NOT NULL, act TEXT NOT NULL) WITHOUT ROWID'),
  },
];

/**
 * Files from before migrations were numbered have the tables already. Application ids name directories, which may ignore case, so no two may differ
 * by case only.
 */
function createRegistry(db: DatabaseSync): void {
  db.exec(`
    CREATE TABLE IF NOT EXISTS installation (salt TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS systems (
      id TEXT NOT NULL UNIQUE, appId TEXT NOT NULL PRIMARY KEY COLLATE NOCASE, name TEXT NOT NULL,
      createdAt INTEGER NOT NULL, masterKeyHash TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS keys (
      appId TEXT NOT NULL REFERENCES systems (appId) ON DELETE CASCADE, name TEXT NOT NULL, hash TEXT NOT NULL, createdAt INTEGER NOT NULL,
      PRIMARY KEY (appId, name)
    );
  `);
}

/**
 * Runs the pending migrations of our own tables in a file, in one transaction. The file stores the required one (`PRAGMA user_version`), and the last
 * one if it is additive (levels.ts). If several processes try at the same time, one runs them and the others wait.
 * @param place what is migrated, for the operator
 * @throws OperatorError if a later version was here
 */
export function migrate(db: DatabaseSync, migrations: readonly SqliteMigration[], place: string): void {
  if (pendingMigrations(migrations, reached(db), place).length === 0) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    let level: Level = reached(db);
    for (const migration of pendingMigrations(migrations, level, place)) {
      migration.apply(db);
      level = levelAfter(level, migration);
    }
    db.exec(`PRAGMA user_version = ${level.required}`);
    if (level.reached > level.required) {
      makeLevels(db);
      saveReached(db, 'engine', level.reached);
    }
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function reached(db: DatabaseSync): Level {
  return levelOf(db, 'engine', Number(db.prepare('PRAGMA user_version').get()?.user_version));
}
