import { open } from 'node:fs/promises';

/** Has names that are new in a directory outlive a power cut. @throws errors of the operating system */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
