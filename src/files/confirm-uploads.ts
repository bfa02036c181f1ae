import type { CompleteUpload } from './attach.ts';
import { awaitedFiles, eachFile } from './metadata/file-metadata.ts';
import type { FileSystem } from './metadata/model.ts';
import { POLICY_LIFETIME_S } from './uploads/presigned-uploads.ts';

/**
 * Time after which a form has expired, with a margin for clock differences. Bytes that arrived after the file was recorded would make it unreadable.
 */
const FORM_LIFETIME_MS = (POLICY_LIFETIME_S + 5 * 60) * 1_000;

/**
 * Records large uploads that were sent directly to the store, so that they count even if they are never attached or read. Uploads that have not
 * arrived stay awaited.
 * Reference: files.md#large-uploads.
 * @param since earliest time of announcement, in milliseconds since 1970
 * @param shouldStop called before each upload
 */
export async function confirmUploads(
  system: FileSystem,
  complete: CompleteUpload,
  since: number,
  shouldStop: () => boolean,
): Promise<void> {
  const period = { from: since, before: Date.now() - FORM_LIFETIME_MS };
  for await (const row of eachFile((after, limit) => awaitedFiles(system.store, period, after, limit))) {
    if (shouldStop()) return;
    await complete(system, row);
  }
}
