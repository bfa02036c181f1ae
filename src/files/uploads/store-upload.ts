import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fail } from '../../errors/fail.ts';
import { temporaryName } from '../../kernel/temporary-files.ts';
import { withFileFaults } from '../stores/faults.ts';
import { INCOMING_END, type ReceivedFile } from '../stores/port.ts';
import { SAMPLE_BYTES } from '../types/index.ts';

/**
 * Size of a write; few large writes are faster than many small ones. Twice as much is in memory, because one half is filled while the other is
 * written.
 */
const WRITE_BYTES = 256 * 1024;

/** Buffers per write, which operating systems limit. */
const MAX_WRITE_PARTS = 64;

/**
 * Writes bytes to a temporary file of this process. On failure nothing is left behind, and a stream is not destroyed, so that its sender can receive
 * a response.
 * @param directory created if missing
 * @param maxBytes size limit
 * @param onSample receives the first `SAMPLE_BYTES` bytes, or the whole file, as early as possible; errors that it throws end the upload
 * @returns the file, synced to disk
 * @throws fileTooLarge (413), emptyFile (130), errors of `bytes` and `onSample`, and errors of the operating system; transient ones as unavailable
 */
export async function receive(
  bytes: AsyncIterable<Buffer>,
  directory: string,
  maxBytes: number,
  onSample: (sample: Buffer, isWhole: boolean) => Promise<void> | void,
): Promise<ReceivedFile> {
  const path = join(directory, temporaryName('upload', INCOMING_END));
  const discard = () => unlink(path).catch(() => {});
  const handle = await withFileFaults(() => openNew(path, directory));
  try {
    const writer = new Writer(handle);
    let sample: Buffer | undefined;
    for await (const chunk of chunksOf(bytes)) {
      if (writer.size + chunk.length > maxBytes) return fail('fileTooLarge');
      await writer.add(chunk, sample === undefined);
      if (sample !== undefined || writer.size < SAMPLE_BYTES) continue;
      sample = writer.sample();
      await onSample(sample, false);
    }
    if (writer.size === 0) return fail('emptyFile');
    if (sample === undefined) {
      sample = writer.sample();
      await onSample(sample, true);
    }
    await writer.end();
    await withFileFaults(() => handle.close());
    return { path, size: writer.size, sample, discard };
  } catch (error) {
    await handle.close().catch(() => {});
    await discard();
    throw error;
  }
}

async function openNew(path: string, directory: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return open(path, 'wx', 0o600);
  }
}

/** Iterates without destroying the stream on early exit, since a request would lose its connection and its response. */
function chunksOf(bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  return bytes instanceof Readable ? bytes.iterator({ destroyOnReturn: false }) : bytes;
}

/** Writes chunks in order, combined into large writes, one write at a time. */
class Writer {
  readonly #handle: FileHandle;
  #parts: Buffer[] = [];
  #buffered = 0;
  #writing: Promise<void> = Promise.resolve();
  size = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Resolves when more may be added. @param hold whether to buffer everything, because no sample has been taken yet */
  async add(chunk: Buffer, hold: boolean): Promise<void> {
    this.#parts.push(chunk);
    this.#buffered += chunk.length;
    this.size += chunk.length;
    if (this.#parts.length >= MAX_WRITE_PARTS) this.#parts = [Buffer.concat(this.#parts)];
    if (!hold && this.#buffered >= WRITE_BYTES) await this.#flush();
  }

  /** Returns the first bytes, before anything is written. A copy, so that it does not keep larger buffers in memory. */
  sample(): Buffer {
    return Buffer.concat(this.#parts, Math.min(this.#buffered, SAMPLE_BYTES));
  }

  /** Writes the rest. The file is durable when it resolves. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#writing;
    await withFileFaults(() => this.#handle.datasync());
  }

  /** Resolves when the previous write has ended and this one has begun. */
  async #flush(): Promise<void> {
    await this.#writing;
    if (this.#buffered === 0) return;
    const parts = this.#parts;
    const size = this.#buffered;
    this.#parts = [];
    this.#buffered = 0;
    this.#writing = withFileFaults(() => writeAll(this.#handle, parts, size));
    // Avoids an unhandled rejection; the promise is awaited later.
    this.#writing.catch(() => {});
  }
}

async function writeAll(handle: FileHandle, parts: Buffer[], size: number): Promise<void> {
  const { bytesWritten } = await handle.writev(parts);
  // The operating system may write less than requested.
  if (bytesWritten < size) await handle.writeFile(Buffer.concat(parts).subarray(bytesWritten));
}
