import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import { clearPassing } from '../../kernel/passing-files.ts';
import { DiskStore } from './disk.ts';
import { type FileStore, INCOMING_END } from './port.ts';

/**
 * The store that the settings select, ready for use: FILES_URL, or a directory of DATA_DIR (CONTRACT "Running").
 * @param report told when a bucket is found away later on
 * @throws OperatorError where the bucket cannot be used
 */
export async function openFileStore(
  { dataDir, filesUrl }: Pick<Config, 'dataDir' | 'filesUrl'>,
  report: (fault: string) => void,
): Promise<FileStore> {
  const store = await open(directoryIn(dataDir), filesUrl, report);
  await clearAbandoned(store.incoming);
  return store;
}

/**
 * Makes the place of a system whose store knows files that may not be there. A bucket has no places, and is not asked.
 * @throws unavailable
 */
export async function makeFilePlace({ dataDir, filesUrl }: Pick<Config, 'dataDir' | 'filesUrl'>, place: string): Promise<void> {
  if (filesUrl === undefined) await new DiskStore(directoryIn(dataDir)).makePlace(place);
}

const directoryIn = (dataDir: string) => join(dataDir, 'files');

async function open(directory: string, filesUrl: Config['filesUrl'], report: (fault: string) => void): Promise<FileStore> {
  const disk = new DiskStore(directory);
  if (filesUrl === undefined) return disk;
  // Its packages take long to load.
  const { S3Store } = await import('./s3.ts');
  return S3Store.open(filesUrl, disk.incoming, report);
}

/** Removes what a crash left in a directory of `receive`. Other processes may be receiving there. Never throws. */
export async function clearAbandoned(directory: string): Promise<void> {
  await clearPassing(directory, '', INCOMING_END).catch(() => {});
}
