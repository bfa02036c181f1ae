import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListPartsCommandInput,
  paginateListParts,
  type S3Client,
} from '@aws-sdk/client-s3';
import { HOUR_MS } from '../../../kernel/time.ts';
import { isBackupName } from './names.ts';

/** Milliseconds after which an upload that no part has come to is what a crash left. */
const ABANDONED_AFTER_MS = HOUR_MS;

/**
 * Aborts uploads of backups that a crash left: their parts cost room and are seen nowhere. It does what the bucket allows, and no more.
 * @param root of the keys of backups: empty, or with a slash at its end
 */
export async function abortLeftUploads(client: S3Client, bucket: string, root: string): Promise<void> {
  const before = Date.now() - ABANDONED_AFTER_MS;
  try {
    // As many as one answer holds: the next backup goes on.
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: root }));
    for (const { Key = '', UploadId, Initiated } of Uploads) {
      const upload = { Bucket: bucket, Key, UploadId };
      const isOld = Initiated !== undefined && Initiated.getTime() < before;
      if (isOld && isBackupKey(Key.slice(root.length)) && !(await hasPartSince(client, upload, before)))
        await client.send(new AbortMultipartUploadCommand(upload));
    }
  } catch {
    // A bucket may refuse it, and a backup can do without.
  }
}

function isBackupKey(key: string): boolean {
  const [, name = '', ...more] = key.split('/');
  return more.length === 0 && isBackupName(name);
}

/** A large backup is uploaded for longer than an hour. */
async function hasPartSince(client: S3Client, upload: ListPartsCommandInput, since: number): Promise<boolean> {
  for await (const { Parts = [] } of paginateListParts({ client }, upload))
    if (Parts.some(({ LastModified }) => LastModified === undefined || LastModified.getTime() >= since)) return true;
  return false;
}
