import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A file that is written and read back. It is beside the systems' folders, whose names begin with a letter, a digit or an underscore. */
const FILE = '.health';

/**
 * Errors of a write on storage that works: no space, a quota, a read-only mount or directory, no file descriptors. Reference:
 * operations.md#health-checks.
 */
const harmless: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'EBUSY']);

/** Checks that the storage under a directory works, off the event loop and with few event loop turns, each of which may be long. */
export class DirectoryProbe {
  readonly #path: string;
  /** Kept open between checks. */
  #file: FileHandle | undefined;

  constructor(directory: string) {
    this.#path = join(directory, FILE);
  }

  /**
   * Writes a byte, flushes it to the device and reads it back.
   * @throws the error of the operating system if that fails
   */
  async check(): Promise<void> {
    try {
      this.#file ??= await open(this.#path, 'w+', 0o600);
      await Promise.all([this.#file.write('.', 0), this.#file.sync()]);
      // The file must be the one that is at the path now.
      const [here, opened] = await Promise.all([stat(this.#path), this.#file.stat(), this.#file.read(Buffer.alloc(1), 0, 1, 0)]);
      if (here.ino !== opened.ino || here.dev !== opened.dev) this.close();
    } catch (error) {
      this.close();
      if (!harmless.has((error as NodeJS.ErrnoException).code)) throw error;
    }
  }

  close(): void {
    // The preceding operations have reported any fault already.
    this.#file?.close().catch(() => {});
    this.#file = undefined;
  }
}
