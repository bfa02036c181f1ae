import type { CompleteUpload } from './attach.ts';
import { awaitedFiles, eachFile } from './metadata/file-metadata.ts';
import type { FileSystem } from './metadata/model.ts';
import { POLICY_LIFETIME_S } from './uploads/presigned-uploads.ts';

/** Milliseconds after which a form is over, whatever the clocks say: what it brings once the file is noted makes that unreadable. */
const FORM_LIFETIME_MS = (POLICY_LIFETIME_S + 5 * 60) * 1_000;

/**
 * Notes large uploads that came past the service, so that they are counted though nobody attaches or reads them. Those that never came stay.
 * SPEC "States and transitions"
 * @param since announced from here on, in milliseconds since 1970
 * @param isEnough asked before each of them
 */
export async function noteArrived(
  system: FileSystem,
  complete: CompleteUpload,
  since: number,
  isEnough: () => boolean,
): Promise<void> {
  const period = { from: since, before: Date.now() - FORM_LIFETIME_MS };
  for await (const row of eachFile((after, limit) => awaitedFiles(system.store, period, after, limit))) {
    if (isEnough()) return;
    await complete(system, row);
  }
}
