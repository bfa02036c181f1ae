import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Written and read back; it lies beside the systems' folders, whose names begin with a letter, a digit or an underscore. */
const FILE = '.health';

/**
 * What a write may meet on storage that works (CONTRACT "Operations"): no space, a quota, a mount or a directory that takes no writes,
 * no descriptors.
 */
const harmless: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'EBUSY']);

/** Asks whether the storage under a directory works, off the event loop and in few of its turns: each may be long. */
export class DirectoryProbe {
  readonly #path: string;
  /** Open between two looks. */
  #file: FileHandle | undefined;

  constructor(directory: string) {
    this.#path = join(directory, FILE);
  }

  /**
   * A byte is written, flushed to the device and read back.
   * @throws the error of the operating system where that does not work
   */
  async ask(): Promise<void> {
    try {
      this.#file ??= await open(this.#path, 'w+', 0o600);
      await Promise.all([this.#file.write('.', 0), this.#file.sync()]);
      // It is to be the file that lies there now.
      const [here, opened] = await Promise.all([stat(this.#path), this.#file.stat(), this.#file.read(Buffer.alloc(1), 0, 1, 0)]);
      if (here.ino !== opened.ino || here.dev !== opened.dev) this.close();
    } catch (error) {
      this.close();
      if (!harmless.has((error as NodeJS.ErrnoException).code)) throw error;
    }
  }

  close(): void {
    // What a close meets has been met before.
    this.#file?.close().catch(() => {});
    this.#file = undefined;
  }
}
