import type { Readable } from 'node:stream';
import { UPLOAD_LIFETIME_MS } from './large.ts';
import type { PresentFile } from './model.ts';
import type { ByteRange, FileStore } from './stores/port.ts';

/**
 * The bytes of a file, or a range within it.
 * @returns `null` where they are gone, or where a form brought others than those that were noted
 */
export async function readBytes(
  store: FileStore,
  appId: string,
  { id, size, version, createdAt }: PresentFile,
  range?: ByteRange,
): Promise<Readable | null> {
  const stream = await store.open(appId, id, range, version);
  if (stream || version === undefined) return stream;
  // An operator who restores a bucket makes new versions, of the same size and after the time of any form.
  const now = await store.stat(appId, id);
  const isRestored = now !== null && now.size === size && now.storedAt >= createdAt + UPLOAD_LIFETIME_MS;
  return isRestored ? store.open(appId, id, range, now.version) : null;
}
