import { fail } from '../../errors/fail.ts';
import type { FileStore } from '../stores/port.ts';
import { receive } from './store-upload.ts';

/**
 * Stores bytes that a system's store knows already, such as those of a backup.
 * @param of where: the place of the system, and the file's id
 * @param size bytes that they are
 * @throws unavailable; what `bytes` throws; fileTooLarge, emptyFile
 */
export async function storeFile(
  store: FileStore,
  { place, id }: { readonly place: string; readonly id: string },
  bytes: AsyncIterable<Buffer>,
  size: number,
): Promise<void> {
  const file = await receive(bytes, store.incoming, size, () => {});
  try {
    if (file.size !== size) fail('fileTooLarge');
    await store.put(place, id, file);
  } finally {
    await file.discard();
  }
}
