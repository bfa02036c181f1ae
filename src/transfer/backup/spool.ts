import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Readable as Source } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { clearTemporaryFiles, temporaryName } from '../../kernel/temporary-files.ts';

/** Fast, since the spool is read once and discarded. */
const LEVEL = 1;

/** Parts of the file name, which exists only briefly; a crash at that moment leaves the file. */
const [START, END] = ['.backup', 'spool'];

const READ_BYTES = 128 * 1024;

/** The position of a text in the spool. */
export interface Spooled {
  readonly start: number;
  /** Compressed bytes in the spool. */
  readonly length: number;
}

/**
 * Compressed temporary file for the content of a backup until its checksums are known, because these come first in the archive. The file is unlinked
 * at
 * once, so it disappears when the process ends in any way.
 */
export class Spool {
  readonly #handle: FileHandle;
  #end = 0;

  /** @param directory private to the service, since the spool is not encrypted */
  static async open(directory: string): Promise<Spool> {
    await clearTemporaryFiles(directory, START, END);
    const path = join(directory, temporaryName(START, END));
    const handle = await open(path, 'wx+', 0o600);
    await unlink(path);
    return new Spool(handle);
  }

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Appends a text. Calls must not overlap. @throws errors of the operating system, e.g. a full disk */
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

  /** Reads a text. */
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
