import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import { clearTemporaryFiles } from '../../kernel/temporary-files.ts';
import { DiskStore } from './disk.ts';
import { type FileStore, INCOMING_END } from './port.ts';

/**
 * Opens the configured store: FILES_URL, or a directory in DATA_DIR (settings.md#files_url).
 * @param report called when a bucket becomes unavailable later
 * @throws OperatorError if the bucket cannot be used
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
 * Creates the directory for the files of a system, if files are on disk. Buckets have no directories.
 * @throws unavailable
 */
export async function makeFilePlace({ dataDir, filesUrl }: Pick<Config, 'dataDir' | 'filesUrl'>, place: string): Promise<void> {
  if (filesUrl === undefined) await new DiskStore(directoryIn(dataDir)).makePlace(place);
}

const directoryIn = (dataDir: string) => join(dataDir, 'files');

async function open(directory: string, filesUrl: Config['filesUrl'], report: (fault: string) => void): Promise<FileStore> {
  const disk = new DiskStore(directory);
  if (filesUrl === undefined) return disk;
  // Loaded lazily, because its packages load slowly.
  const { S3Store } = await import('./s3.ts');
  return S3Store.open(filesUrl, disk.incoming, report);
}

/** Removes partial files of crashed processes from a directory of `receive`; other processes may be receiving there. Never throws. */
export async function clearAbandoned(directory: string): Promise<void> {
  await clearTemporaryFiles(directory, '', INCOMING_END).catch(() => {});
}
