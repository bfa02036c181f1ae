import type { DatabaseSync } from 'node:sqlite';
import type { GenerationGrown } from '../../engine.ts';
import type { Connection } from '../connection/connection.ts';
import { copyWal } from '../connection/statements.ts';
import { growGeneration } from '../schema/identity.ts';
import type { WalMark } from './wal-mark.ts';

/** Told of a store's last commit. */
export interface GenerationEvents {
  readonly log?: Pick<WalMark, 'committed' | 'isGeneration'>;
  /** As of `Engine.open`. */
  readonly grown?: GenerationGrown;
}

/**
 * Has the generation of a store grow that was served and is about to be closed (docs/adr/0020). What cannot be noted is not: the registry knows
 * an earlier generation, which says nothing wrong. Never rejects.
 */
export async function noteGeneration(connection: Connection, { log, grown }: GenerationEvents): Promise<void> {
  if (!grown || !connection.isOpen) return;
  try {
    const generation = connection.ask(growGeneration);
    if (generation === null) return;
    log?.isGeneration(generation);
    log?.committed(connection.db);
    await grown(generation);
  } catch {
    // The disk is full, or worse.
  }
}

/**
 * The same of a store whose file was taken away while it is open, and which writes into it all the same: what lies at its place and knows nothing
 * of that is a copy of before. It is to be in the file itself, since the log may lie where the copy does. Never throws.
 */
export function noteGenerationWhereMissed(db: DatabaseSync, { log, grown }: Required<GenerationEvents>): void {
  try {
    if (db.isTransaction) db.exec('ROLLBACK');
    const generation = growGeneration(db);
    if (generation === null) return;
    log.isGeneration(generation);
    log.committed(db);
    // Noted as what the file itself has.
    if (copyWal(db)) log.committed(db);
    grown(generation).catch(() => {});
  } catch {
    // The file that is away takes no writes.
  }
}
