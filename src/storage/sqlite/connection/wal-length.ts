import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { prepare } from './statement-cache.ts';

/** A log of changes (WAL), in pages: how long it is, and what of it has been copied into the file. */
export interface WalLength {
  readonly pages: number;
  readonly copied: number;
}

/** Asks for it, and copies nothing. */
export const walLengthQuery = 'PRAGMA wal_checkpoint(NOOP)';

/** @param statement `walLengthQuery`, prepared, whose rows come as arrays */
export function readWalLength(statement: StatementSync): WalLength {
  const [, pages, copied] = statement.get() as unknown as [number, number, number];
  return { pages, copied };
}

/** Copies the log into the file. Never throws. @returns whether all of it is there: a reader of an old state, or a fault, may keep some back */
export function copyWal(db: DatabaseSync): boolean {
  try {
    const [isBusy, pages, copied] = prepare(db, 'PRAGMA wal_checkpoint(PASSIVE)').get() as unknown as [number, number, number];
    // Where somebody else is copying there are no lengths.
    return isBusy === 0 && pages >= 0 && pages === copied;
  } catch {
    return false;
  }
}
