import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Readable as Source } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { clearPassing, passingName } from '../../kernel/passing-files.ts';

/** Fast: it is read once, and thrown away. */
const LEVEL = 1;

/** Of its name, which it has for a moment: a crash may leave it then. */
const [START, END] = ['.backup', 'spool'];

const READ_BYTES = 128 * 1024;

/** Where a text lies in a spool. */
export interface Spooled {
  readonly start: number;
  /** Bytes that it takes there, compressed. */
  readonly length: number;
}

/**
 * What a backup holds, on the disk and compressed, until its checksums are known, which come first in the archive. The file has no name: it
 * is gone when the process ends, however that ends.
 */
export class Spool {
  readonly #handle: FileHandle;
  #end = 0;

  /** @param directory of this service's own: what is spooled is not encrypted */
  static async open(directory: string): Promise<Spool> {
    await clearPassing(directory, START, END);
    const path = join(directory, passingName(START, END));
    const handle = await open(path, 'wx+', 0o600);
    await unlink(path);
    return new Spool(handle);
  }

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Appends a text; one at a time. @throws errors of the operating system: a full disk */
  async add(pieces: AsyncIterable<string | Buffer>): Promise<Spooled> {
    const start = this.#end;
    const handle = this.#handle;
    const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
    await pipeline(Source.from(pieces, { objectMode: false }), compress, async (compressed: AsyncIterable<Buffer>) => {
      for await (const chunk of compressed) {
        await writeAll(handle, chunk, this.#end);
        this.#end += chunk.length;
      }
    });
    return { start, length: this.#end - start };
  }

  /** The text again. */
  read({ start, length }: Spooled): Readable {
    const stored = Source.from(this.#stored(start, start + length), { objectMode: false });
    const text = createZstdDecompress();
    stored.once('error', (error) => text.destroy(error));
    return stored.pipe(text);
  }

  async *#stored(start: number, end: number): AsyncGenerator<Buffer> {
    for (let at = start; at < end; ) {
      const { buffer, bytesRead } = await this.#handle.read(Buffer.allocUnsafe(Math.min(READ_BYTES, end - at)), { position: at });
      if (bytesRead === 0) throw new Error('the spool is shorter than what was written to it');
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

async function writeAll(handle: FileHandle, chunk: Buffer, at: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await handle.write(chunk, done, chunk.length - done, at + done);
    done += bytesWritten;
  }
}
