import type { PlaceLock } from '../../engine.ts';
import type { Database } from '../connection/database.ts';

/**
 * Takes a place for as long as a transaction of a connection of its own lasts, which also poolers keep for it.
 * @returns `null` where another session has it
 */
export async function tryLockPlace(database: Database, place: string): Promise<PlaceLock | null> {
  const asked = Promise.withResolvers<boolean>();
  const released = Promise.withResolvers<void>();
  const ended = database
    .alone(async (session) => {
      for (const text of ['BEGIN', 'SET LOCAL idle_in_transaction_session_timeout = 0'])
        await session.query({ text, params: [] });
      const text = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))';
      const { rows } = await session.query({ text, params: [`record-service place ${place}`] });
      const isHad = rows[0]?.[0] === 1;
      asked.resolve(isHad);
      if (isHad) await released.promise;
    }, 0)
    .catch((error) => asked.reject(error));
  if (!(await asked.promise)) return null;
  return {
    async release() {
      released.resolve();
      await ended;
    },
  };
}
