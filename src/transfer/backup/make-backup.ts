import { setTimeout as wait } from 'node:timers/promises';
import type { Encrypter } from 'age-encryption';
import type { Destination, KeptBackup } from './destinations/destination.ts';
import { backupName } from './destinations/names.ts';
import { FileGone } from './file-parts.ts';
import { totalsOf } from './manifest.ts';
import { type BackupEvents, type BackupSource, type PreparedBackup, prepareBackup } from './prepare-backup.ts';
import { Spool } from './spool.ts';

/** A backup that was made. */
export interface MadeBackup extends KeptBackup {
  readonly records: number;
  readonly files: number;
  /** As of `PreparedBackup`. */
  readonly missingFiles: number;
  readonly deletedFiles: number;
}

/** Files that may be deleted in the course of one backup until it is given up. */
const MAX_FILES_GONE = 100;
/** Names of backups are of seconds: how long to wait for the next, in milliseconds. */
const NEXT_NAME_MS = 1_000;

/**
 * Backs up one system.
 * @param to where it is kept
 * @param spoolDirectory of this service's own; it takes about as much as the records do in the backup, without a name
 * @throws unavailable; OperatorError; errors of the operating system: nothing is left of it then
 */
export async function makeBackup(
  source: BackupSource,
  to: Destination,
  encrypter: Encrypter | null,
  spoolDirectory: string,
  events: BackupEvents,
): Promise<MadeBackup> {
  const { appId } = source.entry;
  // Before anything is read: where this cannot be asked nothing can be written either.
  while (await to.has(appId, backupName(Date.now()))) await wait(NEXT_NAME_MS);
  const spool = await Spool.open(spoolDirectory);
  try {
    const prepared = await prepareBackup(source, spool, events);
    const kept = await written(prepared, to, encrypter);
    const { missingFiles, deletedFiles } = prepared;
    return { ...kept, ...totalsOf(prepared.manifest), missingFiles, deletedFiles };
  } finally {
    await spool.close();
  }
}

async function written(prepared: PreparedBackup, to: Destination, encrypter: Encrypter | null): Promise<KeptBackup> {
  const { appId, madeAt } = prepared.manifest;
  for (;;) {
    try {
      const name = backupName(Date.parse(madeAt));
      return await to.write(appId, name, await prepared.archive(encrypter), prepared.estimatedBytes);
    } catch (error) {
      if (!(error instanceof FileGone) || prepared.deletedFiles >= MAX_FILES_GONE || !to.canBeginAgain) throw error;
      prepared.leaveOut(error.id);
    }
  }
}
