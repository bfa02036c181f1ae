import { fail } from '../../errors/fail.ts';
import type { FileStore } from '../stores/port.ts';
import { receive } from './store-upload.ts';

/**
 * Stores bytes of a file whose row exists already, e.g. from a backup.
 * @param of the system's place and the file's id
 * @param size expected bytes
 * @throws unavailable; errors of `bytes`; fileTooLarge, emptyFile
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
