import { isUnavailable } from '../../../errors/fail.ts';
import type { Mutation, WritePlan } from '../../port.ts';
import { growthOf } from '../../record-size.ts';
import type { Connection } from '../connection/connection.ts';

/** Runs work inside the caller's transaction, as a whole or, where it throws, not at all. */
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
    // Half of it must not stay: the whole transaction goes.
    connection.rollback();
    throw error;
  }
}

/**
 * Whether a plan takes effect as a whole by itself: its first step is one SQL statement, and those after it, which tell of it, do not
 * fail. A savepoint costs a copy of every page that is touched, as much as a third of an insert.
 */
export function isWhole({ changes, mutations: [first, ...others] }: WritePlan): boolean {
  if (changes.length > 0 || !first || !others.every(isSure)) return false;
  // What an update returns, and what its record has become, is checked after the statement.
  return single.has(first.kind) || (first.kind === 'update' && first.returning.length === 0 && growthOf(first) === null);
}

const single: ReadonlySet<Mutation['kind']> = new Set(['insert', 'updateAll', 'deleteAll'] as const);

const isSure = (step: Mutation): boolean => step.kind === 'unmark' || (step.kind === 'insert' && step.isNote === true);

/**
 * Carries out a plan that is whole. Where a step after the first fails all the same, which is a fault, the transaction ends and takes the
 * other writes of its group along: nothing of this one stays.
 */
export function withoutSavepoint<T>(connection: Connection, plan: WritePlan, work: (plan: WritePlan) => T): T {
  const { changes, mutations } = plan;
  const done = work({ ...plan, mutations: mutations.slice(0, 1) });
  if (mutations.length === 1) return done;
  try {
    work({ changes, mutations: mutations.slice(1) });
  } catch (cause) {
    connection.rollback();
    if (isUnavailable(cause)) throw cause;
    throw new Error('what tells of a write could not be written', { cause });
  }
  return done;
}
