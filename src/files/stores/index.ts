import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import { clearAbandoned } from '../receive.ts';
import { DiskStore } from './disk.ts';
import type { FileStore } from './port.ts';

/**
 * The store that the settings select, ready for use: FILES_URL, or a directory of DATA_DIR (CONTRACT "Running").
 * @param report told when a bucket is found away later on
 * @throws OperatorError where the bucket cannot be used
 */
export async function openFileStore(
  { dataDir, filesUrl }: Pick<Config, 'dataDir' | 'filesUrl'>,
  report: (fault: string) => void,
): Promise<FileStore> {
  const store = await open(join(dataDir, 'files'), filesUrl, report);
  await clearAbandoned(store.incoming);
  return store;
}

async function open(directory: string, filesUrl: Config['filesUrl'], report: (fault: string) => void): Promise<FileStore> {
  const disk = new DiskStore(directory);
  if (filesUrl === undefined) return disk;
  // Its packages take long to load.
  const { S3Store } = await import('./s3.ts');
  return S3Store.open(filesUrl, disk.incoming, report);
}
