import { randomBytes } from 'node:crypto';
import type { FileSystem } from './metadata/model.ts';
import { admit } from './metadata/usage.ts';
import type { FileStore } from './stores/port.ts';
import { receive } from './uploads/store-upload.ts';

/** A stored request body. */
export interface KeptBody {
  /** Identifies it in all processes. */
  readonly id: string;
  readonly size: number;
}

/**
 * Stores bytes where every process of the installation can read them, until the work that needs them removes them. They are not files: no address
 * leads to them.
 * @param maxBytes size limit
 * @throws fileTooLarge (413), emptyFile (130), outOfStorage (140), unavailable
 */
export async function keepBody(
  store: FileStore,
  { appId, store: records }: FileSystem,
  bytes: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<KeptBody> {
  await admit(records);
  const file = await receive(bytes, store.incoming, maxBytes, () => {});
  try {
    const id = randomBytes(16).toString('hex');
    await store.put(appId, id, file);
    return { id, size: file.size };
  } finally {
    await file.discard();
  }
}
