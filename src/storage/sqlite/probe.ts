import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

/** Written and read back; it lies beside the systems' folders, whose names begin with a letter, a digit or an underscore. */
const FILE = '.health';

/**
 * What a write may meet on storage that works (CONTRACT "Operations"): no space, a quota, a mount or a directory that takes no writes,
 * no descriptors.
 */
const harmless: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'EBUSY']);

/**
 * Whether the storage under a directory works: a byte is written, flushed to the device and read back, off the event loop.
 * @throws the error of the operating system where it does not
 */
export async function probeDirectory(directory: string): Promise<void> {
  let file: FileHandle | undefined;
  try {
    file = await open(join(directory, FILE), 'w+', 0o600);
    await file.write('.', 0);
    await file.sync();
    await file.read(Buffer.alloc(1), 0, 1, 0);
  } catch (error) {
    if (!harmless.has((error as NodeJS.ErrnoException).code)) throw error;
  } finally {
    // What a close meets has been met before.
    await file?.close().catch(() => {});
  }
}
