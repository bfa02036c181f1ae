import { close, createReadStream, open as openFile, read } from 'node:fs';
import { link, mkdir, open, opendir, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { placePattern } from '../../storage/places.ts';
import { fileFault, sortFileError, withFileFaults } from './faults.ts';
import { fileIdPattern } from './name.ts';
import type { ByteRange, FileStore, ReceivedFile, StoredObject } from './port.ts';

/** Size of a read; few large reads are faster than many small ones. */
const READ_BYTES = 256 * 1024;
/** Directories remembered as created. */
const MAX_REMEMBERED = 100_000;

const openDescriptor = promisify(openFile);

/**
 * Stores files in a directory, which several machines may share: `<place>/<first two of the id>/<id>`. A file is received beside them and then linked
 * to its path, so that it appears atomically and never replaces another.
 */
export class DiskStore implements FileStore {
  readonly incoming: string;
  readonly #directory: string;
  /** Directories that exist, unless they were removed from outside. */
  readonly #created = new Set<string>();

  /** @param directory absolute; created if missing */
  constructor(directory: string) {
    this.#directory = directory;
    this.incoming = join(directory, '.incoming');
  }

  put(place: string, id: string, file: ReceivedFile): Promise<void> {
    return withFileFaults(() => this.#put(place, id, file));
  }

  async #put(place: string, id: string, file: ReceivedFile): Promise<void> {
    const path = this.#path(place, id);
    const parent = dirname(path);
    await this.#createDirectory(parent);
    try {
      await moveNew(file.path, path);
    } catch (error) {
      if (!isMissing(error)) throw error;
      // Another process may have removed a system with this place, and its directories.
      this.#created.delete(parent);
      await this.#createDirectory(parent);
      await moveNew(file.path, path);
    }
    await sync(parent);
  }

  /** Durably creates the directory of a system without files. From then on a missing directory counts as an outage. @throws unavailable */
  async makePlace(place: string): Promise<void> {
    await withFileFaults(() => this.#createDirectory(this.#systemDirectory(place)));
  }

  async ready(place: string, isUsed: () => Promise<boolean>): Promise<void> {
    const directory = this.#systemDirectory(place);
    const isThere = await withFileFaults(() => stat(directory).catch(nullIfMissing));
    if (isThere || !(await isUsed())) return;
    throw fileFault('the store is missing', new Error(`${directory} is missing, though files were stored there`));
  }

  async stat(place: string, id: string): Promise<StoredObject | null> {
    const found = await withFileFaults(() => stat(this.#path(place, id)).catch(nullIfMissing));
    return found && { id, size: found.size, storedAt: Math.floor(found.mtimeMs) };
  }

  async open(place: string, id: string, range?: ByteRange): Promise<Readable | null> {
    const path = this.#path(place, id);
    if (range && range.end < range.start) return (await this.stat(place, id)) && Readable.from([]);
    const descriptor = await withFileFaults(() => openDescriptor(path, 'r').catch(nullIfMissing));
    return descriptor === null
      ? null
      : createReadStream('', { fd: descriptor, fs: fsWithFaults, highWaterMark: READ_BYTES, ...range });
  }

  async remove(place: string, id: string): Promise<void> {
    await withFileFaults(() => unlink(this.#path(place, id)).catch(nullIfMissing));
  }

  async removeSystem(place: string, removed?: (files: number) => void): Promise<void> {
    const directory = this.#systemDirectory(place);
    for (const made of this.#created) if (made === directory || dirname(made) === directory) this.#created.delete(made);
    for (const prefix of (await readdir(directory).catch(nullIfMissing)) ?? []) {
      const files = await readdir(join(directory, prefix)).catch(nullIfMissing);
      await rm(join(directory, prefix), { recursive: true, force: true });
      removed?.(files?.length ?? 0);
    }
    await rm(directory, { recursive: true, force: true });
  }

  async *list(place: string): AsyncIterable<StoredObject> {
    const directory = this.#systemDirectory(place);
    for (const prefix of (await readdir(directory).catch(nullIfMissing)) ?? []) {
      const files = await opendir(join(directory, prefix)).catch(nullIfMissing);
      if (files === null) continue;
      for await (const { name } of files) {
        const found = fileIdPattern.test(name) ? await this.stat(place, name) : null;
        if (found) yield found;
      }
    }
  }

  async close(): Promise<void> {}

  #systemDirectory(place: string): string {
    if (!placePattern.test(place)) throw new TypeError('not a place');
    return join(this.#directory, place);
  }

  #path(place: string, id: string): string {
    if (!fileIdPattern.test(id)) throw new TypeError("not a file's id");
    return join(this.#systemDirectory(place), id.slice(0, 2), id);
  }

  /** Creates a directory durably; once per directory. */
  async #createDirectory(directory: string): Promise<void> {
    if (this.#created.has(directory)) return;
    const first = await mkdir(directory, { recursive: true, mode: 0o700 });
    // Each new directory is an entry of its parent, so sync the parents from the topmost new one.
    if (first !== undefined)
      for (let made = directory; made.length >= first.length; made = dirname(made)) await sync(dirname(made));
    if (this.#created.size >= MAX_REMEMBERED) this.#created.clear();
    this.#created.add(directory);
  }
}

/** Makes streams fail with the same errors as other operations. */
const fsWithFaults = {
  close,
  read(descriptor: number, buffer: Buffer, offset: number, length: number, position: number, done: ReadDone): void {
    read(descriptor, buffer, offset, length, position, (error, ...rest) => done(error && sortFileError(error), ...rest));
  },
};

type ReadDone = (error: Error | null, bytesRead: number, buffer: Buffer) => void;

/** Error codes of file systems without hard links, or with a limit for them. */
const noHardLinkCodes: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EMLINK']);

/** Renames a file without replacing another. @throws an error of code `EEXIST` if the target exists */
async function moveNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!noHardLinkCodes.has((error as NodeJS.ErrnoException).code)) throw error;
    if (await stat(to).catch(nullIfMissing)) throw Object.assign(new Error('the file is there already'), { code: 'EEXIST' });
    await rename(from, to);
    return;
  }
  // The file is at its target; the receiver's `discard` tries again.
  await unlink(from).catch(() => {});
}

async function sync(directory: string): Promise<void> {
  await using handle = await open(directory, 'r');
  await handle.sync();
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function nullIfMissing(error: unknown): null {
  if (!isMissing(error)) throw error;
  return null;
}
