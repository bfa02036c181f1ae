import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import type { S3Location } from '../../config/index.ts';
import { appIdPattern } from '../../kernel/credentials.ts';
import type { ByteRange, FileStore, ReceivedFile, StoredObject, UploadForm, UploadPolicy } from './port.ts';
import { ATTEMPTS, checkBucket, connect, S3Fault, watch, watchBody } from './s3-client.ts';

const idPattern = /^[0-9a-f]{32}$/;

/** Files as objects of a bucket, with the keys `prefix/appId/id`. Its errors are `S3Fault`s. */
export class S3Store implements FileStore {
  readonly incoming: string;
  readonly form?: (appId: string, id: string, policy: UploadPolicy) => Promise<UploadForm>;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #pageSize: number;

  private constructor(client: S3Client, location: S3Location, incoming: string, pageSize: number) {
    this.#client = client;
    this.#bucket = location.bucket;
    this.#prefix = location.prefix === '' ? '' : `${location.prefix}/`;
    this.incoming = incoming;
    this.#pageSize = pageSize;
    if (location.forms) this.form = (...wanted) => this.#form(...wanted);
  }

  /**
   * @param incoming where uploads are received
   * @param pageSize how many files are listed, and deleted, by one request: 1,000 at the most
   * @throws OperatorError where the bucket cannot be read
   */
  static async open(location: S3Location, incoming: string, pageSize = 1_000): Promise<S3Store> {
    const client = await connect(location);
    try {
      await checkBucket(client, location);
    } catch (error) {
      client.destroy();
      throw error;
    }
    return new S3Store(client, location, incoming, pageSize);
  }

  async put(appId: string, id: string, file: ReceivedFile): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#send(appId, id, file);
        break;
      } catch (error) {
        if (attempt === ATTEMPTS || !(error instanceof S3Fault) || !error.isPassing) throw error;
        await sleep(100 * 2 ** attempt * (0.5 + Math.random() / 2));
      }
    }
    await file.discard();
  }

  /** The client does not try streams again itself. */
  async #send(appId: string, id: string, file: ReceivedFile): Promise<void> {
    const stop = new AbortController();
    const body = createReadStream(file.path);
    // Otherwise the request would wait for bytes that never come.
    body.once('error', (error) => stop.abort(error));
    const end = watch(
      () => body.bytesRead,
      (error) => stop.abort(error),
    );
    const command = new PutObjectCommand({ ...this.#key(appId, id), Body: body, ContentLength: file.size });
    try {
      await this.#client.send(command, { abortSignal: stop.signal, requestTimeout: 0 });
    } catch (error) {
      throw stop.signal.aborted ? stop.signal.reason : new S3Fault('PutObject', error);
    } finally {
      end();
      body.destroy();
    }
  }

  async stat(appId: string, id: string): Promise<StoredObject | null> {
    const command = new HeadObjectCommand(this.#key(appId, id));
    const found = await ask('HeadObject', this.#client.send(command));
    if (found === null) return null;
    return { id, size: found.ContentLength ?? 0, storedAt: found.LastModified?.getTime() ?? 0 };
  }

  async open(appId: string, id: string, range?: ByteRange): Promise<Readable | null> {
    // S3 takes a range that holds nothing for none.
    if (range && range.end < range.start) return (await this.stat(appId, id)) && Readable.from([]);
    const bytes = range && `bytes=${range.start}-${range.end}`;
    const command = new GetObjectCommand({ ...this.#key(appId, id), Range: bytes });
    const found = await ask('GetObject', this.#client.send(command));
    if (found?.Body === undefined) return null;
    const body = found.Body as unknown as IncomingMessage;
    watchBody(body);
    return body;
  }

  async remove(appId: string, id: string): Promise<void> {
    const command = new DeleteObjectCommand(this.#key(appId, id));
    await ask('DeleteObject', this.#client.send(command));
  }

  async removeSystem(appId: string): Promise<void> {
    for await (const page of this.#pages(appId)) {
      const keys = page.map(({ id }) => ({ Key: this.#key(appId, id).Key }));
      if (keys.length > 0) await this.#removeAll(keys);
    }
  }

  async *list(appId: string): AsyncGenerator<StoredObject> {
    for await (const page of this.#pages(appId)) yield* page;
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  async #form(appId: string, id: string, { contentType, size, seconds }: UploadPolicy): Promise<UploadForm> {
    const { Bucket, Key } = this.#key(appId, id);
    return createPresignedPost(this.#client, {
      Bucket,
      Key,
      Conditions: [['content-length-range', 1, size]],
      // Each field is a condition of its own, too.
      Fields: { 'Content-Type': contentType },
      Expires: seconds,
    }).catch((error: unknown) => {
      throw new S3Fault('POST policy', error);
    });
  }

  async *#pages(appId: string): AsyncGenerator<StoredObject[]> {
    const Bucket = this.#bucket;
    const Prefix = this.#directory(appId);
    let token: string | undefined;
    do {
      const request = new ListObjectsV2Command({ Bucket, Prefix, MaxKeys: this.#pageSize, ContinuationToken: token });
      const page = await this.#client.send(request).catch((error: unknown) => {
        throw new S3Fault('ListObjectsV2', error);
      });
      yield (page.Contents ?? []).flatMap(({ Key = '', Size = 0, LastModified }) => {
        const id = Key.slice(Prefix.length);
        return idPattern.test(id) ? [{ id, size: Size, storedAt: LastModified?.getTime() ?? 0 }] : [];
      });
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async #removeAll(keys: { Key: string }[]): Promise<void> {
    const command = new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects: keys, Quiet: true } });
    // Many stores take the list with an MD5 only, which the client does not send by itself any more.
    command.middlewareStack.add(
      (next) => (args) => {
        const { body, headers } = args.request as { body: string; headers: Record<string, string> };
        headers['content-md5'] = createHash('md5').update(body).digest('base64');
        return next(args);
      },
      { step: 'build', name: 'contentMd5' },
    );
    const answer = await ask('DeleteObjects', this.#client.send(command));
    const first = answer?.Errors?.[0];
    if (first !== undefined) throw new S3Fault('DeleteObjects', { code: first.Code });
  }

  #key(appId: string, id: string): { Bucket: string; Key: string } {
    if (!idPattern.test(id)) throw new Error('S3: not an id of a file');
    return { Bucket: this.#bucket, Key: `${this.#directory(appId)}${id}` };
  }

  #directory(appId: string): string {
    if (!appIdPattern.test(appId)) throw new Error('S3: not an application id');
    return `${this.#prefix}${appId}/`;
  }
}

/** @returns the answer, `null` where the object is not there @throws S3Fault */
async function ask<Answer>(operation: string, answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer;
  } catch (error) {
    const fault = new S3Fault(operation, error);
    if (fault.isMissing) return null;
    throw fault;
  }
}
