import { setTimeout as wait } from 'node:timers/promises';
import type { Encrypter } from 'age-encryption';
import type { Destination, KeptBackup } from './destinations/destination.ts';
import { backupName } from './destinations/names.ts';
import { FileGone } from './file-parts.ts';
import { totalsOf } from './manifest.ts';
import { type BackupEvents, type BackupSource, type PreparedBackup, prepareBackup } from './prepare-backup.ts';
import { Spool } from './spool.ts';

/** A completed backup. */
export interface MadeBackup extends KeptBackup {
  readonly records: number;
  readonly files: number;
  /** As in `PreparedBackup`. */
  readonly missingFiles: number;
  readonly deletedFiles: number;
}

/** Maximum number of files deleted during a backup before it fails. */
const MAX_FILES_GONE = 100;
/** Names have a resolution of one second: delay before trying the next name. */
const NEXT_NAME_MS = 1_000;

/**
 * Backs up one system.
 * @param to the destination
 * @param spoolDirectory private directory of the service; needs about the compressed size of the records
 * @throws unavailable; OperatorError; errors of the operating system. Nothing is left behind in these cases
 */
export async function makeBackup(
  source: BackupSource,
  to: Destination,
  encrypter: Encrypter | null,
  spoolDirectory: string,
  events: BackupEvents,
): Promise<MadeBackup> {
  const { appId } = source.entry;
  // Asked first: if the destination cannot be read, it cannot be written either.
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
