import { mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { newObjectId } from '../kernel/ids.ts';
import { syncDirectory } from '../kernel/sync-directory.ts';

/** What becomes of a message in the box: it stays, or it is there until it is sent. */
export type OutboxState = 'kept' | 'sending';

/** Processes of one machine may share the box: what is not finished bears the number of the process that is at it. */
const endings = { kept: '.eml', sending: `.${process.pid}.sending` } as const;
const PART = `.${process.pid}.part`;
const UNFINISHED = /^(.+?)(?:\.(\d+))?\.(part|sending)$/;

/**
 * A directory of messages, one file each, `<time>-<id>.eml`, for the service's own user alone. A message that is being sent stands there
 * too (`.<process>.sending`), so that no crash loses it. Every file appears whole.
 */
export class Outbox {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Puts a message in. @returns its name in the box @throws errors of the operating system */
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

  /** A message that could not be sent stays. */
  keep(name: string): Promise<void> {
    return this.#rename(name, endings.sending, endings.kept);
  }

  /** A message that was sent leaves. */
  drop(name: string): Promise<void> {
    return unlink(this.#path(name, endings.sending));
  }

  /** Keeps what an earlier process did not finish sending. @returns the number of messages */
  async recover(): Promise<number> {
    const files = await readdir(this.#directory).catch(unlessMissing);
    let left = 0;
    for (const file of files ?? []) {
      const [, name, processId, state] = UNFINISHED.exec(file) ?? [];
      if (name === undefined || isAnothers(processId)) continue;
      const path = join(this.#directory, file);
      // Half written: its sender never heard that it was taken on. What is missing was taken by another process that starts now.
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

/** Whether a process of this number runs that is not this one. */
function isAnothers(processId: string | undefined): boolean {
  if (processId === undefined || Number(processId) === process.pid) return false;
  try {
    return process.kill(Number(processId), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
