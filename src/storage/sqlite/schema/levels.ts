import type { DatabaseSync } from 'node:sqlite';
import { type Level, type Scope, storedLevel } from '../../migrations.ts';

/** Creates the table of the additive migrations that have run, which versions before levels do not know. */
export function makeLevels(db: DatabaseSync): void {
  db.exec('CREATE TABLE IF NOT EXISTS rds_levels (scope TEXT PRIMARY KEY, reached INTEGER NOT NULL) WITHOUT ROWID');
}

/** Returns the level of a file. @param required as stored elsewhere */
export function levelOf(db: DatabaseSync, scope: Scope, required: number): Level {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'rds_levels'").get() !== undefined;
  const row = isThere ? db.prepare('SELECT reached FROM rds_levels WHERE scope = ?').get(scope) : undefined;
  return storedLevel(required, row ? Number(row.reached) : null);
}

/** Saves the number of the last migration that has run, inside the caller's transaction. */
export function saveReached(db: DatabaseSync, scope: Scope, reached: number): void {
  const upsert =
    'INSERT INTO rds_levels VALUES (?, ?) ON CONFLICT (scope) DO UPDATE SET reached = max(reached, excluded.reached)';
  db.prepare(upsert).run(scope, reached);
}
