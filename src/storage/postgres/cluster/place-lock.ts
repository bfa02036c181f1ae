import type { PlaceLock } from '../../engine.ts';
import type { Database } from '../connection/database.ts';

/**
 * Locks a place for other processes. A transaction on a separate connection holds the lock, since poolers keep a connection for the length of a
 * transaction.
 * @returns `null` if another session has the lock
 */
export async function tryLockPlace(database: Database, place: string): Promise<PlaceLock | null> {
  const attempt = Promise.withResolvers<boolean>();
  const released = Promise.withResolvers<void>();
  const ended = database
    .dedicated(
      async (session) => {
        for (const text of ['BEGIN', 'SET LOCAL idle_in_transaction_session_timeout = 0'])
          await session.query({ text, params: [] });
        const text = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))';
        const { rows } = await session.query({ text, params: [`record-service place ${place}`] });
        const acquired = rows[0]?.[0] === 1;
        attempt.resolve(acquired);
        if (acquired) await released.promise;
      },
      { timeLimit: 0 },
    )
    .catch((error) => attempt.reject(error));
  if (!(await attempt.promise)) return null;
  return {
    async release() {
      released.resolve();
      await ended;
    },
  };
}
