import type { Statement } from '../../sql/sql-writer.ts';
import type { Database, Result, Session } from '../connection/database.ts';
import { StatementFailed } from '../connection/map-error.ts';

/** Executes writes: on the connections, or inside a transaction that is already open. */
export interface Transactions extends Pick<Database, 'transact'> {
  /** @param lockLimit lock timeout of a statement in milliseconds; inside an open transaction, that one's own limit applies */
  atomically(statements: readonly Statement[], lockLimit: number): Promise<Result[]>;
}

/** Returns the transactions of a system, which share the connections fairly with other systems. */
export function transactionsOf(database: Database, system: string): Transactions {
  return {
    atomically: (statements, lockLimit) => database.atomically(statements, system, lockLimit),
    transact: (work, options) => database.transact(work, { ...options, system }),
  };
}

const command = (text: string): Statement => ({ text, params: [] });
const begin = command('SAVEPOINT w');
const undo = command('ROLLBACK TO SAVEPOINT w');
const end = command('RELEASE SAVEPOINT w');

/**
 * Returns transactions nested in an open one by savepoints: each takes effect as a whole or not at all, and becomes durable with the outer one. One
 * at a time.
 * @param session of the outer transaction
 */
export function savepoints(session: Session): Transactions {
  const undone = async () => {
    await session.query(undo);
    await session.query(end);
  };
  return {
    async atomically(statements) {
      const sent = await Promise.allSettled([begin, ...statements, end].map((statement) => session.query(statement)));
      const failed = sent.findIndex(({ status }) => status === 'rejected');
      if (failed < 0) return sent.slice(1, -1).map((one) => (one as PromiseFulfilledResult<Result>).value);
      await undone();
      throw new StatementFailed(failed - 1, (sent[failed] as PromiseRejectedResult).reason);
    },
    async transact(work) {
      await session.query(begin);
      try {
        const result = await work(session);
        await session.query(end);
        return result;
      } catch (error) {
        await undone();
        throw error;
      }
    },
  };
}
