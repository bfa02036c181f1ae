import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, statfs, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Config } from '../config/index.ts';
import { type FileStore, openFileStore } from '../files/index.ts';
import { OperatorError } from '../kernel/operator-error.ts';

const BYTES = Buffer.from('written by record-service check');
/** Where a probe lies in a bucket: no system has such a place. */
const PLACE = '.check';

/** Writes, reads and deletes a probe where uploads are stored. @returns where that is @throws */
export async function checkFiles(config: Config): Promise<string> {
  const { dataDir, filesUrl } = config;
  if (filesUrl === undefined) return probeFolder(join(dataDir, 'files'));
  let fault: string | undefined;
  const store = await openFileStore(config, (text) => (fault = text));
  try {
    await probeBucket(store);
    return `${filesUrl.bucket}: write, read, delete`;
  } catch (error) {
    throw fault === undefined ? error : new OperatorError(fault, { cause: error });
  } finally {
    await store.close();
  }
}

async function probeBucket(store: FileStore): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'record-service-check-'));
  const id = randomBytes(16).toString('hex');
  try {
    const path = join(directory, 'probe');
    await writeFile(path, BYTES, { mode: 0o600 });
    await store.put(PLACE, id, { path, size: BYTES.length, sample: BYTES, discard: async () => {} });
    try {
      const read = await store.open(PLACE, id);
      if (!read || !(await buffer(read)).equals(BYTES)) throw new OperatorError('what was written is not what is read');
    } catch (error) {
      // The probe goes all the same; why it cannot be read says more than why it stays.
      await store.remove(PLACE, id).catch(() => {});
      throw error;
    }
    await store.remove(PLACE, id);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Writes, flushes, reads and deletes a probe in a folder, or in the nearest one above it that exists. @returns the folder @throws */
export async function probeFolder(folder: string): Promise<string> {
  const there = nearest(folder);
  const path = join(there, `.check-${randomBytes(8).toString('hex')}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await file.writeFile(BYTES);
    await file.sync();
    if (!(await readFile(path)).equals(BYTES)) throw new OperatorError(`${there}: what was written is not what is read`);
  } finally {
    await file.close();
    await unlink(path);
  }
  return there === folder ? `${folder}: write, read, delete` : `${folder}: not there yet, ${there} can be written to`;
}

/** Below this share, or number of bytes, a disk counts as full. */
const MIN_FREE = { share: 0.02, bytes: 200_000_000 };

/** Returns the free room on the disk of a folder. @throws OperatorError if there is too little */
export async function checkDisk(folder: string): Promise<string> {
  const there = nearest(folder);
  const { bavail, blocks, bsize } = await statfs(there);
  const free = bavail * bsize;
  const text = `${(free / 1e9).toFixed(1)} GB of ${((blocks * bsize) / 1e9).toFixed(1)} GB free at ${there}`;
  if (free < MIN_FREE.bytes && bavail / blocks < MIN_FREE.share) throw new OperatorError(`only ${text}`);
  return text;
}

function nearest(folder: string): string {
  let there = folder;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  return there;
}
