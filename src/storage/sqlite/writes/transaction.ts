import { fail, isUnavailable } from '../../../errors/fail.ts';
import { inDoubtSince } from '../../../errors/system-faults.ts';
import { growthOf } from '../../column-values.ts';
import type { Mutation, WritePlan } from '../../port.ts';
import { compileExists } from '../../sql/mutation.ts';
import type { Connection } from '../connection/connection.ts';
import { failedAfterWriting, missingError } from '../connection/map-error.ts';
import { touchCatalog } from '../schema/catalog.ts';
import { sqliteDialect as dialect } from '../sql/dialect.ts';

/** Runs work inside the caller's transaction; if it throws, its changes are rolled back. */
export function inSavepoint<T>(connection: Connection, work: () => T): T {
  connection.execute('SAVEPOINT w');
  try {
    const result = work();
    connection.execute('RELEASE w');
    return result;
  } catch (error) {
    if (connection.isTransaction) undo(connection);
    throw error;
  }
}

function undo(connection: Connection): void {
  try {
    connection.execute('ROLLBACK TO w');
    connection.execute('RELEASE w');
  } catch (error) {
    // A partial write must not remain: roll back the whole transaction.
    connection.rollback();
    throw error;
  }
}

/**
 * Returns whether a plan is atomic without a savepoint: its first step is one SQL statement, and the following ones, which log it, cannot fail. A
 * savepoint copies every page that is touched, which takes up to a third of an insert's time.
 */
export function isAtomic({ changes, mutations: [first, ...others] }: WritePlan): boolean {
  if (changes.length > 0 || !first || !others.every(isSure)) return false;
  // An update's result and the size of its record are checked after the statement.
  return single.has(first.kind) || (first.kind === 'update' && first.returning.length === 0 && growthOf(first) === null);
}

const single: ReadonlySet<Mutation['kind']> = new Set(['insert', 'updateAll', 'deleteAll'] as const);

const isSure = (step: Mutation): boolean =>
  step.kind === 'unmark' || (step.kind === 'insert' && (step.isNote === true || step.isJoined === true));

/** Checks that the ids of joined rows are free, before anything of the write is executed: their inserts cannot fail then. @throws duplicateValue */
function refuseTaken(connection: Connection, mutations: readonly Mutation[]): void {
  for (const step of mutations) {
    if (step.kind !== 'insert' || !step.isJoined) continue;
    const id = step.values.find(([{ name }]) => name === 'objectId')?.[1] ?? '';
    if (connection.first(compileExists(step.table, String(id), null, dialect))) fail('duplicateValue');
  }
}

/**
 * Executes a plan for which `isAtomic` holds. If a step after the first fails nevertheless, which is a programming error, the transaction is rolled
 * back together with the other writes of its group.
 * @throws duplicateValue if the id of a joined row is taken; what `work` throws
 */
export function withoutSavepoint<T>(connection: Connection, plan: WritePlan, work: (plan: WritePlan) => T): T {
  const { changes, mutations } = plan;
  if (mutations.length === 1) return work(plan);
  refuseTaken(connection, mutations);
  const done = work({ ...plan, mutations: mutations.slice(0, 1) });
  try {
    work({ changes, mutations: mutations.slice(1) });
  } catch (cause) {
    connection.rollback();
    if (isUnavailable(cause)) throw cause;
    throw new Error('what tells of a write could not be written', { cause });
  }
  return done;
}

/** Maximum age of a check of the file's presence before a commit. */
const MAX_CHECK_AGE_MS = 5;

/** Maximum attempts to seal. */
const MAX_SEALS = 3;

/**
 * Commits a write transaction; whether it is durable then depends on the connection (`synchronous`).
 * @param isInPlace returns whether the file is still at its path, checked at most `withinMs` ago
 * @throws unavailable if nothing was written, even after a crash; outcomeUnknown if that is uncertain
 */
export function commit(connection: Connection, isInPlace: (withinMs: number) => boolean): void {
  if (!isInPlace(MAX_CHECK_AGE_MS)) {
    connection.rollback();
    throw missingError(connection.path);
  }
  try {
    connection.execute('COMMIT');
  } catch (error) {
    connection.rollback();
    if (!failedAfterWriting(error) || seal(connection)) throw error;
    throw inDoubtSince(error);
  }
}

/**
 * Makes sure that a transaction whose COMMIT failed stays uncommitted. Its pages may be complete in the WAL but not flushed: after a crash, a process
 * that opens the file would treat it as committed. The next transaction starts at the same position of the WAL, and each frame's checksum continues
 * that of the previous one, so a first frame that differs from the failed one's invalidates all frames after it. The seal is a transaction of a
 * single page with new content, which no longer transaction begins with.
 * @returns whether it was written; even if not flushed, it is what the operating system has at that position
 */
function seal(connection: Connection): boolean {
  for (let attempt = 0; attempt < MAX_SEALS; attempt++) {
    try {
      // Not on a separate connection: the last one to close, or the first to open, reads the WAL again.
      connection.db.exec('BEGIN IMMEDIATE');
      touchCatalog(connection.db);
      connection.db.exec('COMMIT');
      return true;
    } catch (error) {
      connection.rollback();
      // At the start of a WAL, the flush of the WAL header may have failed, before any page was written.
      if (failedAfterWriting(error) && (connection.logLength()?.pages ?? 0) > 0) return true;
    }
  }
  return false;
}
