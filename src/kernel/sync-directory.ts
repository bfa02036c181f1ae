import { open } from 'node:fs/promises';

/** Makes new names in a directory durable against a power cut. @throws errors of the operating system */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
