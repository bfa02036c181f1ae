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
import { connectBucket, MAX_ATTEMPTS } from '../../s3/client.ts';
import { S3Fault } from '../../s3/fault.ts';
import { S3Health } from '../../s3/health.ts';
import { watchBody, watchProgress } from '../../s3/stall.ts';
import { placePattern } from '../../storage/places.ts';
import { sortFileError } from './faults.ts';
import { fileIdPattern } from './name.ts';
import type { ByteRange, FileStore, ReceivedFile, StoredObject, UploadForm, UploadPolicy } from './port.ts';

const NOT_IMPLEMENTED = 501;

/**
 * Stores files as objects of a bucket with the keys `prefix/place/id`. If the bucket is unavailable, throws `unavailable` (503); other errors are
 * `S3Fault`s.
 */
export class S3Store implements FileStore {
  readonly incoming: string;
  readonly form?: (place: string, id: string, policy: UploadPolicy) => Promise<UploadForm>;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #health: S3Health;
  readonly #pageSize: number;
  /** Condition that prevents overwriting: of two concurrent writes of one object the second fails. Omitted for stores that do not implement it. */
  #ifNew: { readonly IfNoneMatch?: '*' } = { IfNoneMatch: '*' };

  private constructor(client: S3Client, location: S3Location, incoming: string, health: S3Health, pageSize: number) {
    this.#client = client;
    this.#health = health;
    this.#bucket = location.bucket;
    this.#prefix = location.prefix === '' ? '' : `${location.prefix}/`;
    this.incoming = incoming;
    this.#pageSize = pageSize;
    if (location.forms) this.form = (...wanted) => this.#form(...wanted);
  }

  /**
   * @param incoming directory for receiving uploads
   * @param report called when the bucket becomes unavailable
   * @param pageSize files per list and delete request, at most 1,000
   * @throws OperatorError if the bucket cannot be read
   */
  static async open(location: S3Location, incoming: string, report: (fault: string) => void, pageSize = 1_000): Promise<S3Store> {
    const client = await connectBucket(location, 'FILES_URL');
    return new S3Store(client, location, incoming, new S3Health(report), pageSize);
  }

  async put(place: string, id: string, file: ReceivedFile): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#send(place, id, file);
        this.#health.succeeded();
        break;
      } catch (error) {
        if (!(error instanceof S3Fault)) throw sortFileError(error);
        if (error.isTaken) {
          this.#health.succeeded();
          // If an earlier attempt succeeded but its response was lost, the object is the one to store.
          if (attempt > 1) break;
          throw Object.assign(new Error('the object is there', { cause: error }), { code: 'EEXIST' });
        }
        if (error.status === NOT_IMPLEMENTED) this.#ifNew = {};
        if (attempt === MAX_ATTEMPTS || !error.isPassing) throw this.#health.errorOf(error);
        await sleep(100 * 2 ** attempt * (0.5 + Math.random() / 2));
      }
    }
    await file.discard();
  }

  /** Uploads the file in a single attempt, because the client does not retry streams. */
  async #send(place: string, id: string, file: ReceivedFile): Promise<void> {
    const stop = new AbortController();
    const body = createReadStream(file.path);
    // Without this, the request would wait for bytes that never arrive.
    body.once('error', (error) => stop.abort(error));
    const end = watchProgress(
      () => body.bytesRead,
      (fault) => stop.abort(fault),
    );
    const command = new PutObjectCommand({ ...this.#key(place, id), Body: body, ContentLength: file.size, ...this.#ifNew });
    try {
      await this.#client.send(command, { abortSignal: stop.signal, requestTimeout: 0 });
    } catch (error) {
      const { aborted, reason } = stop.signal;
      if (!aborted) throw new S3Fault('PutObject', error);
      throw reason instanceof S3Fault ? this.#health.errorOf(reason) : reason;
    } finally {
      end();
      body.destroy();
    }
  }

  async stat(place: string, id: string): Promise<StoredObject | null> {
    const command = new HeadObjectCommand(this.#key(place, id));
    const found = await this.#request('HeadObject', this.#client.send(command));
    if (found === null) return null;
    const { ContentLength = 0, LastModified, ETag } = found;
    return { id, size: ContentLength, storedAt: LastModified?.getTime() ?? 0, ...(ETag !== undefined && { version: ETag }) };
  }

  async open(place: string, id: string, range?: ByteRange, version?: string): Promise<Readable | null> {
    // S3 would ignore an empty range and return the whole object.
    if (range && range.end < range.start) {
      const there = await this.stat(place, id);
      return there && (version === undefined || version === there.version) ? Readable.from([]) : null;
    }
    const bytes = range && `bytes=${range.start}-${range.end}`;
    const command = new GetObjectCommand({ ...this.#key(place, id), Range: bytes, IfMatch: version });
    const found = await this.#request('GetObject', this.#client.send(command));
    if (found?.Body === undefined) return null;
    const body = found.Body as unknown as IncomingMessage;
    watchBody(body, (fault) => this.#health.errorOf(fault));
    return body;
  }

  async remove(place: string, id: string): Promise<void> {
    const command = new DeleteObjectCommand(this.#key(place, id));
    await this.#request('DeleteObject', this.#client.send(command));
  }

  async removeSystem(place: string, removed?: (files: number) => void): Promise<void> {
    for await (const page of this.#pages(place)) {
      const keys = page.map(({ id }) => ({ Key: this.#key(place, id).Key }));
      if (keys.length > 0) await this.#removeAll(keys);
      removed?.(keys.length);
    }
  }

  async *list(place: string): AsyncGenerator<StoredObject> {
    for await (const page of this.#pages(place)) yield* page;
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  async #form(place: string, id: string, { contentType, size, seconds }: UploadPolicy): Promise<UploadForm> {
    const { Bucket, Key } = this.#key(place, id);
    return createPresignedPost(this.#client, {
      Bucket,
      Key,
      Conditions: [['content-length-range', 1, size]],
      // Each field is a condition, too.
      Fields: { 'Content-Type': contentType },
      Expires: seconds,
    }).catch((error: unknown) => {
      throw new S3Fault('POST policy', error);
    });
  }

  async *#pages(place: string): AsyncGenerator<StoredObject[]> {
    const Bucket = this.#bucket;
    const Prefix = this.#directory(place);
    let token: string | undefined;
    do {
      const request = new ListObjectsV2Command({ Bucket, Prefix, MaxKeys: this.#pageSize, ContinuationToken: token });
      const page = await this.#request('ListObjectsV2', this.#client.send(request));
      yield (page?.Contents ?? []).flatMap(({ Key = '', Size = 0, LastModified }) => {
        const id = Key.slice(Prefix.length);
        return fileIdPattern.test(id) ? [{ id, size: Size, storedAt: LastModified?.getTime() ?? 0 }] : [];
      });
      token = page?.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async #removeAll(keys: { Key: string }[]): Promise<void> {
    const command = new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects: keys, Quiet: true } });
    // Many stores require an MD5 of the list, which the client no longer sends by default.
    command.middlewareStack.add(
      (next) => (args) => {
        const { body, headers } = args.request as { body: string; headers: Record<string, string> };
        headers['content-md5'] = createHash('md5').update(body).digest('base64');
        return next(args);
      },
      { step: 'build', name: 'contentMd5' },
    );
    const answer = await this.#request('DeleteObjects', this.#client.send(command));
    const first = answer?.Errors?.[0];
    if (first !== undefined) throw new S3Fault('DeleteObjects', { code: first.Code });
  }

  /** @returns the response; `null` if the object does not exist or has another version @throws unavailable (503), S3Fault */
  async #request<Answer>(operation: string, answer: Promise<Answer>): Promise<Answer | null> {
    try {
      const answered = await answer;
      this.#health.succeeded();
      return answered;
    } catch (error) {
      const fault = new S3Fault(operation, error);
      const known = this.#health.errorOf(fault);
      if (fault.isMissing || fault.isOtherVersion) return null;
      throw known;
    }
  }

  #key(place: string, id: string): { Bucket: string; Key: string } {
    if (!fileIdPattern.test(id)) throw new Error('S3: not an id of a file');
    return { Bucket: this.#bucket, Key: `${this.#directory(place)}${id}` };
  }

  #directory(place: string): string {
    if (!placePattern.test(place)) throw new Error('S3: not a place');
    return `${this.#prefix}${place}/`;
  }
}
