import type { WritePlan } from '../../port.ts';
import type { Connection } from '../connection.ts';

/** Runs work inside the caller's transaction, as a whole or, where it throws, not at all. */
export function inSavepoint<T>(connection: Connection, work: () => T): T {
  connection.execute('SAVEPOINT w');
  try {
    const result = work();
    connection.execute('RELEASE w');
    return result;
  } catch (error) {
    if (connection.db.isTransaction) {
      connection.execute('ROLLBACK TO w');
      connection.execute('RELEASE w');
    }
    throw error;
  }
}

/**
 * Whether a plan is one SQL statement, which takes effect as a whole by itself. A savepoint costs a copy of every page that is touched,
 * a third of an insert.
 */
export function isOneStatement({ changes, mutations: [first, ...others] }: WritePlan): boolean {
  if (changes.length > 0 || others.length > 0 || !first) return false;
  // What an update returns is checked after the statement.
  return first.kind === 'insert' || first.kind === 'deleteAll' || (first.kind === 'update' && first.returning.length === 0);
}
