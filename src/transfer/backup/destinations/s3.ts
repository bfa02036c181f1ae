import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { S3Location } from '../../../config/index.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { connectBucket } from '../../../s3/client.ts';
import { S3Fault } from '../../../s3/fault.ts';
import { abortAbandonedUploads } from './abandoned-uploads.ts';
import type { Destination, KeptBackup } from './destination.ts';
import { isBackupName } from './names.ts';

/** Minimum size of an upload part; memory holds two parts. */
const MIN_PART_BYTES = 8 * 1024 * 1024;
/** Maximum number of parts; S3 allows 10,000. */
const MAX_PARTS = 9_000;

/** Backups in an S3 bucket, under a prefix. */
export class S3Destination implements Destination {
  readonly canBeginAgain = true;
  readonly #client: S3Client;
  readonly #location: S3Location;
  readonly #url: string;
  /** Runs once per destination. */
  #abandonedAborted: Promise<void> | undefined;

  /** Connects to the bucket. @throws OperatorError with a one-line message that says what to correct */
  static async open(location: S3Location, url: string, option: string): Promise<S3Destination> {
    return new S3Destination(await connectBucket(location, option), location, url);
  }

  private constructor(client: S3Client, location: S3Location, url: string) {
    this.#client = client;
    this.#location = location;
    this.#url = url;
  }

  async has(appId: string, name: string): Promise<boolean> {
    try {
      await this.#client.send(new HeadObjectCommand(this.#object({ appId, name })));
      return true;
    } catch (error) {
      const fault = new S3Fault('HeadObject', error);
      if (fault.isMissing) return false;
      throw describedFault(fault, this.#location);
    }
  }

  async write(appId: string, name: string, archive: Readable, estimatedBytes: number): Promise<KeptBackup> {
    let bytes = 0;
    let broken: unknown;
    this.#abandonedAborted ??= abortAbandonedUploads(this.#client, this.#location.bucket, this.#root);
    archive.once('error', (error) => {
      broken = error;
    });
    const counted = async function* () {
      for await (const chunk of archive) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#object({ appId, name }), Body: Readable.from(counted(), { objectMode: false }) },
      partSize: Math.max(MIN_PART_BYTES, Math.ceil(estimatedBytes / MAX_PARTS)),
      queueSize: 2,
    });
    try {
      await this.#abandonedAborted;
      await upload.done();
    } catch (error) {
      archive.destroy();
      throw broken ?? describedFault(new S3Fault('upload', error), this.#location);
    }
    return { appId, name, bytes, file: this.#file({ appId, name }) };
  }

  async *list(only?: string): AsyncGenerator<KeptBackup> {
    const { bucket } = this.#location;
    const root = this.#root;
    let token: string | undefined;
    do {
      const page = await this.#client
        .send(
          new ListObjectsV2Command({
            Bucket: bucket,
            Prefix: only === undefined ? root : `${root}${only}/`,
            ...(token !== undefined && { ContinuationToken: token }),
          }),
        )
        .catch((error) => {
          throw describedFault(new S3Fault('ListObjectsV2', error), this.#location);
        });
      for (const { Key = '', Size = 0 } of page.Contents ?? []) {
        const [appId = '', name = '', ...more] = Key.slice(root.length).split('/');
        if (more.length === 0 && isBackupName(name)) yield { appId, name, bytes: Size, file: this.#file({ appId, name }) };
      }
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  open(kept: Pick<KeptBackup, 'appId' | 'name'>): Promise<Readable> {
    return bodyOf(this.#client, this.#object(kept), this.#location);
  }

  async remove(kept: Pick<KeptBackup, 'appId' | 'name'>): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#object(kept))).catch((error) => {
      throw describedFault(new S3Fault('DeleteObject', error), this.#location);
    });
  }

  close(): void {
    this.#client.destroy();
  }

  /** Key prefix. */
  get #root(): string {
    const { prefix } = this.#location;
    return prefix === '' ? '' : `${prefix}/`;
  }

  #object({ appId, name }: Pick<KeptBackup, 'appId' | 'name'>): { Bucket: string; Key: string } {
    return { Bucket: this.#location.bucket, Key: `${this.#root}${appId}/${name}` };
  }

  /** The address of the destination extended by the path of the object. */
  #file({ appId, name }: Pick<KeptBackup, 'appId' | 'name'>): string {
    const [address = '', query] = this.#url.split('?');
    return `${address.replace(/\/$/, '')}/${appId}/${name}${query === undefined ? '' : `?${query}`}`;
  }
}

/** Opens a single object. @param location its prefix is the key */
export async function openObject(location: S3Location): Promise<Readable> {
  const client = await connectBucket({ ...location, prefix: '' }, 'FILE');
  const body = await bodyOf(client, { Bucket: location.bucket, Key: location.prefix }, location);
  return body.once('close', () => client.destroy());
}

async function bodyOf(client: S3Client, object: { Bucket: string; Key: string }, location: S3Location): Promise<Readable> {
  try {
    const { Body } = await client.send(new GetObjectCommand(object));
    return Body as Readable;
  } catch (error) {
    const fault = new S3Fault('GetObject', error);
    if (fault.isMissing) throw new OperatorError(`there is no ${object.Key} in the bucket ${location.bucket}`);
    throw describedFault(fault, location);
  }
}

function describedFault(fault: S3Fault, { bucket, endpoint }: S3Location): OperatorError {
  return new OperatorError(`the bucket ${bucket} at ${endpoint ?? 'AWS'}: ${fault.message}`, { cause: fault });
}
