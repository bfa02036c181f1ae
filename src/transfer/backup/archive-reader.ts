import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { type ExtractEvents, extract } from 'tar-stream';
import { OperatorError } from '../../kernel/operator-error.ts';
import { MANIFEST_NAME, type Manifest, type ManifestPart, readManifest } from './manifest.ts';
import { wholeText } from './whole-text.ts';

const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const AGE_MAGIC = Buffer.from('age-encryption.org/');
const NEWLINE = 10;

/** A member of the archive. */
type Entry = ExtractEvents['entry'][1];

/** A part of a backup while it is read. The checksum is verified when the last byte has been read. */
export interface PartReader {
  readonly part: ManifestPart;
  /** @throws OperatorError if they differ from the manifest */
  readonly bytes: AsyncIterable<Buffer>;
}

/** Reads a backup once, from beginning to end. */
export interface BackupReader {
  readonly manifest: Manifest;
  readonly isEncrypted: boolean;
  /** The parts in archive order. @throws OperatorError naming the part that is damaged or missing */
  parts(): AsyncGenerator<PartReader>;
  /** Closes the source. */
  close(): void;
}

/**
 * Opens a backup and reads its manifest. Reference: backup.md#format-of-a-backup.
 * @param source bytes of the backup
 * @param identities age identities (`AGE-SECRET-KEY-1…`) for an encrypted backup
 * @throws OperatorError if it is not a backup, of a later version, or encrypted for other recipients; errors of the source
 */
export async function readBackup(source: Readable, identities: readonly string[]): Promise<BackupReader> {
  try {
    return await opened(source, identities);
  } catch (error) {
    source.destroy();
    throw error;
  }
}

async function opened(source: Readable, identities: readonly string[]): Promise<BackupReader> {
  const watched = new WatchedSource(source);
  const start = await watched.start(AGE_MAGIC.length);
  const isEncrypted = start.subarray(0, AGE_MAGIC.length).equals(AGE_MAGIC);
  if (!isEncrypted && !start.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC))
    throw new OperatorError(start.length === 0 ? 'the file is empty' : 'the file is no backup of this service');
  const plain = isEncrypted ? await decrypted(watched, identities) : watched.bytes();
  const archive = extract();
  const close = () => {
    archive.destroy();
    source.destroy();
  };
  let given = 0;
  const counted = async function* () {
    for await (const chunk of plain) {
      given += chunk.length;
      yield chunk;
    }
  };
  const text = Readable.from(counted(), { objectMode: false }).once('error', (error) => unpack.destroy(error));
  const unpack = createZstdDecompress();
  text
    .pipe(unpack)
    .once('error', (error) => archive.destroy(error))
    .pipe(archive);
  archive.once('close', () => text.destroy());
  const entries = archive[Symbol.asyncIterator]() as AsyncIterator<Entry>;
  const next = (what: string) => described(entries.next(), watched, () => `${what} is not in it`);
  try {
    const first = await next(MANIFEST_NAME);
    if (first.done || first.value.header.name !== MANIFEST_NAME) throw new OperatorError('the file is no backup of this service');
    const manifest = readManifest(
      await wholeText(
        chunksOf(first.value, watched, () => MANIFEST_NAME),
        MANIFEST_NAME,
      ),
    );
    const refuseMore = () => {
      if (given > unpack.bytesWritten) throw new OperatorError('the file is damaged: it goes on after its end');
    };
    return { manifest, isEncrypted, close, parts: () => partsOf(manifest, next, watched, refuseMore) };
  } catch (error) {
    close();
    throw error;
  }
}

async function* partsOf(
  manifest: Manifest,
  next: (what: string) => Promise<IteratorResult<Entry>>,
  watched: WatchedSource,
  refuseMore: () => void,
): AsyncGenerator<PartReader> {
  for (const part of manifest.parts) {
    const entry = await next(part.name);
    if (entry.done || entry.value.header.name !== part.name) throw new OperatorError(`${part.name} is not in it`);
    const reading = new CheckedPart(part, entry.value, watched);
    yield { part, bytes: reading.bytes() };
    if (!reading.isChecked) for await (const _ of reading.bytes());
  }
  const last = await next('the end');
  if (!last.done)
    throw new OperatorError(
      `it holds ${JSON.stringify(last.value.header.name.slice(0, 100))}, of which its manifest knows nothing`,
    );
  refuseMore();
}

/** Reads a part and compares it with the manifest. */
class CheckedPart {
  isChecked = false;
  readonly #part: ManifestPart;
  readonly #entry: Entry;
  readonly #watched: WatchedSource;
  readonly #hash: Hash = createHash('sha256');
  #lines = 0;
  #bytes = 0;

  constructor(part: ManifestPart, entry: Entry, watched: WatchedSource) {
    this.#part = part;
    this.#entry = entry;
    this.#watched = watched;
  }

  async *bytes(): AsyncGenerator<Buffer> {
    const isRows = this.#part.name.endsWith('.ndjson');
    for await (const chunk of chunksOf(this.#entry, this.#watched, () => this.#cutText())) {
      this.#hash.update(chunk);
      this.#bytes += chunk.length;
      if (this.#bytes > this.#part.bytes) throw new OperatorError(this.#cutText());
      if (isRows) this.#lines += linesIn(chunk);
      yield chunk;
    }
    this.isChecked = true;
    const { name, bytes, count, sha256 } = this.#part;
    if (this.#bytes !== bytes || (isRows && this.#lines !== count)) throw new OperatorError(this.#cutText());
    if (this.#hash.digest('hex') !== sha256) throw new OperatorError(`${name}: its checksum does not agree`);
  }

  #cutText(): string {
    const { name, count } = this.#part;
    const what = name.replace(/[.]ndjson$/, '');
    if (this.#bytes > this.#part.bytes) return `${what}: is longer than ${grouped(this.#part.bytes)} bytes`;
    if (name.endsWith('.ndjson')) return `${what}: ends after ${grouped(this.#lines)} of ${grouped(count)} records`;
    return `${what}: ends after ${grouped(this.#bytes)} of ${grouped(this.#part.bytes)} bytes`;
  }
}

const grouped = (count: number) => count.toLocaleString('en-US');

function linesIn(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

/** Awaits a read and converts format errors to an OperatorError. @param where the member being read */
async function described<T>(reading: Promise<T>, watched: WatchedSource, where: () => string): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof OperatorError || isSystemError(error)) throw error;
    const isCut = watched.hasEnded && !isDamage(error);
    throw new OperatorError(`${where()}: the file is ${isCut ? 'cut off' : 'damaged'}`, { cause: error });
  }
}

/** Whether zstd rejected the bytes, as opposed to a premature end. */
const isDamage = (error: unknown) => String((error as NodeJS.ErrnoException).code).startsWith('ZSTD_');

/** Errors of the operating system and of S3 are more specific than our messages. */
function isSystemError(error: unknown): boolean {
  const { code, name } = error as NodeJS.ErrnoException;
  return name === 'S3Fault' || (typeof code === 'string' && /^E[A-Z]+$/.test(code));
}

/** The bytes of a member, with format errors described. @param where the member being read */
async function* chunksOf(entry: Entry, watched: WatchedSource, where: () => string): AsyncGenerator<Buffer> {
  const chunks = entry[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  for (;;) {
    const chunk = await described(chunks.next(), watched, where);
    if (chunk.done) return;
    yield chunk.value;
  }
}

async function decrypted(watched: WatchedSource, identities: readonly string[]): Promise<AsyncIterable<Buffer>> {
  if (identities.length === 0) throw new OperatorError('the file is encrypted: --identity KEYFILE names the key');
  // Imported on demand: it is rarely needed.
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  const encrypted = Readable.toWeb(Readable.from(watched.bytes(), { objectMode: false })) as ReadableStream<Uint8Array>;
  try {
    const plain = await decrypter.decrypt(encrypted);
    return Readable.fromWeb(plain as Parameters<typeof Readable.fromWeb>[0]);
  } catch (error) {
    const isForOthers = /no identity matched/i.test((error as Error).message);
    const text = isForOthers ? 'the file was encrypted for other keys' : 'the file cannot be decrypted: it is damaged or cut off';
    throw new OperatorError(text, { cause: error });
  }
}

/** The bytes of a source; records whether its end was reached. */
class WatchedSource {
  hasEnded = false;
  readonly #chunks: AsyncIterator<Buffer>;
  #begun: Buffer = Buffer.alloc(0);

  constructor(source: Readable) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** Returns at least `minBytes` from the start, or fewer if there are no more; `bytes` returns them again. */
  async start(minBytes: number): Promise<Buffer> {
    while (this.#begun.length < minBytes) {
      const next = await this.#chunks.next();
      if (next.done) break;
      this.#begun = Buffer.concat([this.#begun, next.value]);
    }
    return this.#begun;
  }

  async *bytes(): AsyncGenerator<Buffer> {
    if (this.#begun.length > 0) yield this.#begun;
    for (;;) {
      const next = await this.#chunks.next();
      if (next.done) break;
      yield next.value;
    }
    this.hasEnded = true;
  }
}
