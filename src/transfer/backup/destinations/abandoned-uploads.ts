import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListPartsCommandInput,
  paginateListParts,
  type S3Client,
} from '@aws-sdk/client-s3';
import { HOUR_MS } from '../../../kernel/time.ts';
import { isBackupName } from './names.ts';

/** Multipart uploads without a new part for this long were left by a crash. */
const ABANDONED_AFTER_MS = HOUR_MS;

/**
 * Aborts multipart uploads of backups that a crash left: their parts occupy space and are not listed. Best effort, within the permissions of the
 * bucket.
 * @param root key prefix of backups: empty, or with a trailing slash
 */
export async function abortAbandonedUploads(client: S3Client, bucket: string, root: string): Promise<void> {
  const before = Date.now() - ABANDONED_AFTER_MS;
  try {
    // One page of results only: the next backup continues.
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: root }));
    for (const { Key = '', UploadId, Initiated } of Uploads) {
      const upload = { Bucket: bucket, Key, UploadId };
      const isOld = Initiated !== undefined && Initiated.getTime() < before;
      if (isOld && isBackupKey(Key.slice(root.length)) && !(await hasPartSince(client, upload, before)))
        await client.send(new AbortMultipartUploadCommand(upload));
    }
  } catch {
    // The bucket may forbid it; the backup does not depend on it.
  }
}

function isBackupKey(key: string): boolean {
  const [, name = '', ...more] = key.split('/');
  return more.length === 0 && isBackupName(name);
}

/** The start of an upload is not sufficient: a large backup takes longer than an hour. */
async function hasPartSince(client: S3Client, upload: ListPartsCommandInput, since: number): Promise<boolean> {
  for await (const { Parts = [] } of paginateListParts({ client }, upload))
    if (Parts.some(({ LastModified }) => LastModified === undefined || LastModified.getTime() >= since)) return true;
  return false;
}
