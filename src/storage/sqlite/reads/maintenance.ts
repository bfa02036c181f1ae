import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { existingFile } from '../connection/open-database.ts';
import type { MaintenanceResult, MaintenanceTask } from './protocol.ts';

/** Lock timeout of a WAL restart if a reader or another process holds the lock. Writers wait meanwhile. */
const LOCK_TIMEOUT_MS = 50;
/** Size beyond which the WAL file is truncated immediately instead of by the next write. */
const LARGE_WAL_BYTES = 64 * 1024 * 1024;
/** SQLite's code for a corrupt file. */
const SQLITE_CORRUPT = 11;

/** Executes a maintenance task on an existing file. @throws SQLite's error */
export function runMaintenance(type: Exclude<MaintenanceTask['type'], 'forget'>, path: string): MaintenanceResult {
  const db = new DatabaseSync(existingFile(path), { timeout: LOCK_TIMEOUT_MS });
  try {
    if (type === 'check') return check(db);
    return checkpoint(
      db,
      type === 'checkpoint' ? 'PASSIVE' : statSync(`${path}-wal`).size > LARGE_WAL_BYTES ? 'TRUNCATE' : 'RESTART',
    );
  } finally {
    db.close();
  }
}

/** Copies committed pages from the WAL into the file, as far as readers permit. */
function checkpoint(db: DatabaseSync, mode: 'PASSIVE' | 'RESTART' | 'TRUNCATE'): MaintenanceResult {
  // Copy most pages before writers are blocked.
  if (mode !== 'PASSIVE') checkpoint(db, 'PASSIVE');
  const row = db.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as { busy: number; log: number; checkpointed: number };
  return { pages: row.log, copied: row.checkpointed, isRestarted: mode !== 'PASSIVE' && row.busy === 0 };
}

/** Reads all pages of tables and indexes. @throws if one cannot be read, or is inconsistent */
function check(db: DatabaseSync): MaintenanceResult {
  const row = db.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (row.quick_check !== 'ok') throw Object.assign(new Error(row.quick_check), { errcode: SQLITE_CORRUPT });
  return {};
}
