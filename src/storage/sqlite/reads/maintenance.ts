import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { existingFile } from '../connection/open-database.ts';
import type { MaintenanceResult, MaintenanceTask } from './protocol.ts';

/** Milliseconds that a log is waited for which is begun anew: a reader, or another process, has its lock. Writers wait meanwhile. */
const LOCK_MS = 50;
/** Bytes of a log beyond which its file is cut back at once, not only by the next write. */
const LARGE_WAL_BYTES = 64 * 1024 * 1024;
/** SQLite's code for a file that is damaged. */
const SQLITE_CORRUPT = 11;

/** Carries out an errand on a file that has to be there. @throws what SQLite says */
export function runMaintenance(type: Exclude<MaintenanceTask['type'], 'forget'>, path: string): MaintenanceResult {
  const db = new DatabaseSync(existingFile(path), { timeout: LOCK_MS });
  try {
    if (type === 'check') return check(db);
    return checkpoint(
      db,
      type === 'copy the log' ? 'PASSIVE' : statSync(`${path}-wal`).size > LARGE_WAL_BYTES ? 'TRUNCATE' : 'RESTART',
    );
  } finally {
    db.close();
  }
}

/** Copies what is committed from the log into the file, as far as readers allow. */
function checkpoint(db: DatabaseSync, mode: 'PASSIVE' | 'RESTART' | 'TRUNCATE'): MaintenanceResult {
  // Else a writer would wait for the copying of what is new since.
  if (mode !== 'PASSIVE') checkpoint(db, 'PASSIVE');
  const row = db.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as { busy: number; log: number; checkpointed: number };
  return { pages: row.log, copied: row.checkpointed, isBegunAnew: mode !== 'PASSIVE' && row.busy === 0 };
}

/** Reads all pages of tables and indexes. @throws where one of them cannot be read, or does not belong there */
function check(db: DatabaseSync): MaintenanceResult {
  const row = db.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (row.quick_check !== 'ok') throw Object.assign(new Error(row.quick_check), { errcode: SQLITE_CORRUPT });
  return {};
}
