import { randomBytes } from 'node:crypto';
import type { FileSystem } from './metadata/model.ts';
import { admit } from './metadata/usage.ts';
import type { FileStore } from './stores/port.ts';
import { receive } from './uploads/store-upload.ts';

/** A body that waits for its work. */
export interface KeptBody {
  /** By which any process finds it. */
  readonly id: string;
  readonly size: number;
}

/**
 * Keeps bytes where every process of the installation finds them, until the work that they are for removes them. They are no file: no name
 * leads to them.
 * @param most bytes at most
 * @throws fileTooLarge (413), emptyFile (130), outOfStorage (140), unavailable
 */
export async function keepBody(
  store: FileStore,
  { appId, store: records }: FileSystem,
  bytes: AsyncIterable<Buffer>,
  most: number,
): Promise<KeptBody> {
  await admit(records);
  const file = await receive(bytes, store.incoming, most, () => {});
  try {
    const id = randomBytes(16).toString('hex');
    await store.put(appId, id, file);
    return { id, size: file.size };
  } finally {
    await file.discard();
  }
}
