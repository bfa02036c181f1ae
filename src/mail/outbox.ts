import { mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { newObjectId } from '../kernel/ids.ts';
import { syncDirectory } from '../kernel/sync-directory.ts';

/** State of a stored message: kept for good, or present only until it is sent. */
export type OutboxState = 'kept' | 'sending';

/** Processes on one machine may share the outbox, so unfinished files carry the id of their process. */
const endings = { kept: '.eml', sending: `.${process.pid}.sending` } as const;
const PART = `.${process.pid}.part`;
const UNFINISHED = /^(.+?)(?:\.(\d+))?\.(part|sending)$/;

/**
 * A directory of messages, one file each (`<time>-<id>.eml`), readable only by the service's user. A message being sent is stored too
 * (`.<process>.sending`), so that a crash does not lose it. Files appear atomically.
 */
export class Outbox {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Stores a message. @returns its name in the outbox @throws errors of the operating system */
  async put(raw: Buffer, state: OutboxState): Promise<string> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const name = `${new Date().toISOString().replace(/[-:.]/g, '')}-${newObjectId()}`;
    const part = this.#path(name, PART);
    try {
      await writeWhole(part, raw);
      await this.#rename(name, PART, endings[state]);
    } catch (error) {
      await unlink(part).catch(() => {});
      throw error;
    }
    return name;
  }

  /** Keeps a message that could not be sent. */
  keep(name: string): Promise<void> {
    return this.#rename(name, endings.sending, endings.kept);
  }

  /** Removes a message that was sent. */
  drop(name: string): Promise<void> {
    return unlink(this.#path(name, endings.sending));
  }

  /** Keeps what earlier processes did not finish sending. @returns the number of messages */
  async recover(): Promise<number> {
    const files = await readdir(this.#directory).catch(unlessMissing);
    let left = 0;
    for (const file of files ?? []) {
      const [, name, processId, state] = UNFINISHED.exec(file) ?? [];
      if (name === undefined || isOtherProcess(processId)) continue;
      const path = join(this.#directory, file);
      // A partial file: the message was never reported as stored, so it is deleted. A missing file was handled by another process that starts at the
      // same time.
      const done = state === 'part' ? unlink(path) : rename(path, this.#path(name, endings.kept)).then(() => void left++);
      await done.catch(unlessMissing);
    }
    if (left > 0) await syncDirectory(this.#directory);
    return left;
  }

  async #rename(name: string, from: string, to: string): Promise<void> {
    await rename(this.#path(name, from), this.#path(name, to));
    await syncDirectory(this.#directory);
  }

  #path(name: string, ending: string): string {
    return join(this.#directory, name + ending);
  }
}

async function writeWhole(path: string, raw: Buffer): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(raw);
  await file.sync();
}

function unlessMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

/** Whether another process with this id is running. */
function isOtherProcess(processId: string | undefined): boolean {
  if (processId === undefined || Number(processId) === process.pid) return false;
  try {
    return process.kill(Number(processId), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
