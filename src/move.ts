import type { Config } from './config/index.ts';
import { OperatorError } from './kernel/operator-error.ts';
import { createLog } from './observe/index.ts';
import { ProcessLock } from './storage/sqlite/index.ts';
import { lockOf, makeDataDirectory, openConfigured, openEmbedded, openPostgres, refuseEmpty } from './stores.ts';
import { type MoveEvents, type MoveResult, moveAll } from './transfer/index.ts';

/**
 * Copies all systems between the embedded store and PostgreSQL. No service may serve either during the move.
 * @throws OperatorError if that is impossible, or the copy differs
 */
export async function moveStores(
  config: Config,
  databaseUrl: string | undefined,
  to: 'postgres' | 'embedded',
  events: MoveEvents,
): Promise<MoveResult> {
  if (databaseUrl === undefined) throw new OperatorError('DATABASE_URL: must be set; it says from where or where to');
  if (to === 'postgres') await refuseEmpty(config);
  const log = createLog(config.logLevel);
  makeDataDirectory(config);
  const lock = ProcessLock.take(lockOf(config));
  const embedded = await openEmbedded(config, log);
  try {
    const postgres = await openPostgres(config, databaseUrl, log, { alone: true });
    try {
      const sides = { embedded: { kind: 'embedded', ...embedded }, postgres: { kind: 'postgres', ...postgres } } as const;
      return await moveAll(sides[to === 'postgres' ? 'embedded' : 'postgres'], sides[to], events);
    } finally {
      await postgres.close();
    }
  } finally {
    await embedded.close();
    lock.release();
  }
}

/**
 * Removes the mark that the systems of the configured store were moved, so that they are served from there again.
 * @throws OperatorError if there is no such mark
 */
export async function undoMoveMark(config: Config, databaseUrl: string | undefined): Promise<void> {
  if (databaseUrl === undefined) await refuseEmpty(config);
  const { registry, close } = await openConfigured(config, databaseUrl, createLog(config.logLevel));
  try {
    if (!registry.moved()) throw new OperatorError('there is no mark to undo: these systems were not moved');
    await registry.markMoved(null);
  } finally {
    await close();
  }
}
