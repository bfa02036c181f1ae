import type { DatabaseSync } from 'node:sqlite';
import type { GenerationGrown } from '../../engine.ts';
import { copyWal } from '../connection/statements.ts';
import { growGeneration } from '../schema/identity.ts';
import type { WalMark } from './wal-mark.ts';

/** Receives a store's last commit. */
export interface GenerationEvents {
  readonly log?: Pick<WalMark, 'committed' | 'setGeneration'>;
  /** See `Engine.open`. */
  readonly grown?: GenerationGrown;
}

/**
 * Records the generation of a served store that is about to be closed (docs/adr/0020). If that fails, the registry keeps an earlier generation, which
 * is still valid. Never rejects.
 * @param generation that the file has now, durably
 */
export async function recordGeneration(generation: number, db: DatabaseSync, { log, grown }: GenerationEvents): Promise<void> {
  try {
    log?.setGeneration(generation);
    log?.committed(db);
    await grown?.(generation);
  } catch {
    // E.g. the disk is full.
  }
}

/**
 * Does the same for a store whose file was taken away while it is open. The file that is now at the path does not know of writes to the open one, so
 * it counts as an older copy. The generation must be in the file itself, since the WAL may be at the path of that copy. Never throws.
 */
export function recordGenerationIfMissing(db: DatabaseSync, { log, grown }: Required<GenerationEvents>): void {
  try {
    if (db.isTransaction) db.exec('ROLLBACK');
    db.exec('PRAGMA synchronous = FULL');
    const generation = growGeneration(db);
    if (generation === null) return;
    log.setGeneration(generation);
    log.committed(db);
    // Record that the generation is in the file itself.
    if (copyWal(db)) log.committed(db);
    grown(generation).catch(() => {});
  } catch {
    // The file that was taken away accepts no writes.
  }
}
