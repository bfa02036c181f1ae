import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PendingRows } from '../../engine.ts';
import type { KnownStore } from '../../identity.ts';
import { isAtRest, pendingRowsStatement } from '../../sql/pending-rows.ts';
import { fileAlone } from '../connection/open-database.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { WalMark } from './wal-mark.ts';

/** See `Engine.atRest`. A look takes the event loop for some milliseconds, in which SQLite parses the schema: requests have turns in between. */
export async function filesAtRest(
  stores: readonly KnownStore[],
  pathOf: (known: KnownStore) => string,
  version: number,
  wanted: readonly PendingRows[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const known of stores) {
    await nextTurn();
    if (isFileAtRest(pathOf(known), known, version, wanted)) found.add(known.systemId);
  }
  return found;
}

/** Files that were not closed properly are never at rest: opening them finds out what their WAL has lost. */
function isFileAtRest(path: string, known: KnownStore, version: number, wanted: readonly PendingRows[]): boolean {
  let db: DatabaseSync | undefined;
  try {
    const generation = WalMark.closedGeneration(path, known.systemId);
    if (generation === null) return false;
    db = new DatabaseSync(fileAlone(path), { readOnly: true });
    const { text, params } = pendingRowsStatement(sqliteDialect, wanted);
    const statement = db.prepare(text);
    statement.setReturnArrays(true);
    const row = statement.get(...(params as string[])) as unknown as readonly unknown[] | undefined;
    return isAtRest(row, { ...known, generation: Math.max(known.generation, generation) }, version, wanted);
  } catch {
    return false;
  } finally {
    db?.close();
  }
}
