import type { StatementSync } from 'node:sqlite';

/** A log of changes (WAL), in pages: how long it is, and what of it has been copied into the file. */
export interface LogLength {
  readonly pages: number;
  readonly copied: number;
}

/** Asks for it, and copies nothing. */
export const logLengthQuery = 'PRAGMA wal_checkpoint(NOOP)';

/** @param statement `logLengthQuery`, prepared, whose rows come as arrays */
export function readLogLength(statement: StatementSync): LogLength {
  const [, pages, copied] = statement.get() as unknown as [number, number, number];
  return { pages, copied };
}
