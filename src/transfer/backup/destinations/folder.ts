import { createReadStream, createWriteStream } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { syncDirectory } from '../../../kernel/sync-directory.ts';
import { clearTemporaryFiles, temporaryName } from '../../../kernel/temporary-files.ts';
import type { Destination, KeptBackup } from './destination.ts';
import { isBackupName } from './names.ts';

/** Extension of files that are being written. */
const PARTIAL = 'partial';
const CHUNK_BYTES = 256 * 1024;

/** Backups in a folder, with a subfolder per system. */
export class FolderDestination implements Destination {
  readonly canBeginAgain = true;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = resolve(folder);
  }

  async has(appId: string, name: string): Promise<boolean> {
    return access(this.#path({ appId, name })).then(
      () => true,
      () => false,
    );
  }

  async write(appId: string, name: string, archive: Readable): Promise<KeptBackup> {
    const directory = join(this.#folder, appId);
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await clearTemporaryFiles(directory, '.', PARTIAL);
    } catch (error) {
      archive.destroy();
      throw error;
    }
    const partial = join(directory, temporaryName(`.${name}`, PARTIAL));
    try {
      // Flushed to disk before it gets its final name.
      await pipeline(archive, createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true, highWaterMark: CHUNK_BYTES }));
      const { size } = await stat(partial);
      await rename(partial, this.#path({ appId, name }));
      await syncDirectory(directory);
      return { appId, name, bytes: size, file: this.#path({ appId, name }) };
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }

  async *list(only?: string): AsyncGenerator<KeptBackup> {
    // A missing folder is an error; otherwise a mistyped path would look like an empty destination.
    const names = await readdir(this.#folder);
    for (const appId of names.toSorted()) {
      if (only !== undefined && appId !== only) continue;
      for (const name of (await readdir(join(this.#folder, appId)).catch(() => [])).toSorted()) {
        if (!isBackupName(name)) continue;
        const file = this.#path({ appId, name });
        const found = await stat(file).catch(() => null);
        if (found?.isFile()) yield { appId, name, bytes: found.size, file };
      }
    }
  }

  open(kept: Pick<KeptBackup, 'appId' | 'name'>): Promise<Readable> {
    return openFile(this.#path(kept));
  }

  async remove(kept: Pick<KeptBackup, 'appId' | 'name'>): Promise<void> {
    await rm(this.#path(kept), { force: true });
  }

  close(): void {}

  #path({ appId, name }: Pick<KeptBackup, 'appId' | 'name'>): string {
    return join(this.#folder, appId, name);
  }
}

/** Opens a file for reading. @throws errors of the operating system, before anything is read */
export async function openFile(path: string): Promise<Readable> {
  const handle = await open(path);
  if ((await handle.stat()).isDirectory()) {
    await handle.close();
    throw Object.assign(new Error(`EISDIR: ${path} is a directory`), { code: 'EISDIR' });
  }
  return createReadStream('', { fd: handle, highWaterMark: CHUNK_BYTES });
}
