import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fail } from '../../errors/fail.ts';
import { passingName } from '../../kernel/passing-files.ts';
import { withFileFaults } from '../stores/faults.ts';
import { INCOMING_END, type ReceivedFile } from '../stores/port.ts';
import { SAMPLE_BYTES } from '../types/index.ts';

/** Bytes that are written at once: few writes are quicker than many. Twice as many are in memory, the second half while the first is written. */
const WRITE_BYTES = 256 * 1024;

/** Parts of a write, since systems bound them. */
const MAX_WRITE_PARTS = 64;

/**
 * Takes bytes to a file of this process. Whatever goes wrong, nothing is left behind; a stream is not destroyed, so that who sends it can
 * be answered.
 * @param directory is made where it is not there
 * @param most how many bytes at most
 * @param onSample is shown the first `SAMPLE_BYTES` bytes, or all, as soon as they are there, and waited for: what it throws ends it
 * @returns the file, synced to the disk
 * @throws fileTooLarge (413), emptyFile (130), what `bytes` and `onSample` throw, and errors of the operating system: unavailable for those that
 *   can pass
 */
export async function receive(
  bytes: AsyncIterable<Buffer>,
  directory: string,
  most: number,
  onSample: (sample: Buffer, isWhole: boolean) => Promise<void> | void,
): Promise<ReceivedFile> {
  const path = join(directory, passingName('upload', INCOMING_END));
  const discard = () => unlink(path).catch(() => {});
  const handle = await withFileFaults(() => openNew(path, directory));
  try {
    const writer = new Writer(handle);
    let sample: Buffer | undefined;
    for await (const chunk of chunksOf(bytes)) {
      if (writer.size + chunk.length > most) return fail('fileTooLarge');
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

/** A stream that is left is not destroyed: a request would lose its connection, and its answer. */
function chunksOf(bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  return bytes instanceof Readable ? bytes.iterator({ destroyOnReturn: false }) : bytes;
}

/** Writes chunks in their order, many at once, one write at a time. */
class Writer {
  readonly #handle: FileHandle;
  #parts: Buffer[] = [];
  #gathered = 0;
  #writing: Promise<void> = Promise.resolve();
  size = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Resolves when it may have more. @param hold whether nothing is written yet */
  async add(chunk: Buffer, hold: boolean): Promise<void> {
    this.#parts.push(chunk);
    this.#gathered += chunk.length;
    this.size += chunk.length;
    if (this.#parts.length >= MAX_WRITE_PARTS) this.#parts = [Buffer.concat(this.#parts)];
    if (!hold && this.#gathered >= WRITE_BYTES) await this.#flush();
  }

  /** The first bytes, while nothing is written. A copy, so that what is kept of a file is no more than that. */
  sample(): Buffer {
    return Buffer.concat(this.#parts, Math.min(this.#gathered, SAMPLE_BYTES));
  }

  /** Writes what is left. The file is durable when it resolves. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#writing;
    await withFileFaults(() => this.#handle.datasync());
  }

  /** Resolves when the write before is done, and this one has begun. */
  async #flush(): Promise<void> {
    await this.#writing;
    if (this.#gathered === 0) return;
    const parts = this.#parts;
    const size = this.#gathered;
    this.#parts = [];
    this.#gathered = 0;
    this.#writing = withFileFaults(() => writeAll(this.#handle, parts, size));
    // It is awaited later; until then it is nobody's.
    this.#writing.catch(() => {});
  }
}

async function writeAll(handle: FileHandle, parts: Buffer[], size: number): Promise<void> {
  const { bytesWritten } = await handle.writev(parts);
  // A disk may take less than it is given.
  if (bytesWritten < size) await handle.writeFile(Buffer.concat(parts).subarray(bytesWritten));
}
