import type { ContextOf } from './command-context.ts';
import type { Config } from './config/index.ts';
import type { Logger } from './observe/index.ts';
import type { Stores } from './stores.ts';
import type { Systems } from './systems/index.ts';
import { BackupSchedule } from './transfer/backup/schedule/backup-schedule.ts';
import { BackupTurns } from './transfer/backup/schedule/backup-turns.ts';
import { notifyAdministrators } from './transfer/backup/schedule/notify-administrators.ts';

/**
 * Starts scheduled backups if BACKUP_URL is set. Reference: backup.md#scheduled-backups.
 * @param contextOf returns a context with master rights for the records of a store
 */
export function startBackups(
  { backup: settings }: Pick<Config, 'backup'>,
  { registry, engine }: Stores,
  systems: Pick<Systems, 'acquire'>,
  contextOf: ContextOf,
  log: Logger,
): BackupSchedule | null {
  const [, program] = process.argv;
  if (!settings || program === undefined) return null;
  const notify = async (appIds: readonly string[] | null, due: number): Promise<void> => {
    for (const appId of appIds ?? registry.read().systems.map((one) => one.appId))
      try {
        const system = await systems.acquire(appId);
        if (!system) continue;
        try {
          await notifyAdministrators(contextOf(system.store, appId), due);
        } finally {
          system.release();
        }
      } catch (error) {
        log.error({ err: error, app: appId }, 'administrators were not told that a backup failed');
      }
  };
  return new BackupSchedule({ settings, turns: new BackupTurns(registry, engine.cluster), program, log, notify });
}
