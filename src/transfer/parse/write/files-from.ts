import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';
import { ServiceError } from '../../../errors/fail.ts';
import type { FileSystem, Files } from '../../../files/index.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { Findings } from './findings.ts';
import type { NamedFile } from './record-mapper.ts';

/** Files that are brought at once. */
const AT_ONCE = 4;
/** How often an address is asked that does not answer, and milliseconds until it is asked again. */
const ATTEMPTS = 4;
const AGAIN_MS = 1_000;
/** Milliseconds until an address has to begin its answer. */
const ANSWER_MS = 30_000;

/** Where the bytes of files are. */
export interface FileOrigin {
  /** The bytes of a file; `null` where there is no such file. @throws OperatorError where the place does not answer */
  open(name: string): Promise<AsyncIterable<Buffer> | null>;
  has(name: string): Promise<boolean>;
}

/**
 * @param from a directory, or an address that the names of files are put behind
 * @throws OperatorError where there is no such directory
 */
export async function fileOriginOf(from: string): Promise<FileOrigin> {
  if (/^https?:\/\//i.test(from)) return new AddressOrigin(from);
  const found = await stat(from).catch((error) => {
    throw new OperatorError(`--files-from: ${error.message}`);
  });
  if (!found.isDirectory()) throw new OperatorError(`--files-from: ${from} is no directory`);
  return new DirectoryOrigin(await realpath(from));
}

class DirectoryOrigin implements FileOrigin {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async open(name: string): Promise<AsyncIterable<Buffer> | null> {
    return (await this.has(name)) ? createReadStream(join(this.#directory, name)) : null;
  }

  /** Names come from the source: none leads out of the directory. */
  async has(name: string): Promise<boolean> {
    if (basename(name) !== name || name.includes('\\') || name.includes('\0') || name === '..') return false;
    const path = await realpath(join(this.#directory, name)).catch(() => null);
    return path === join(this.#directory, name) && (await stat(path)).isFile();
  }
}

class AddressOrigin implements FileOrigin {
  readonly #base: string;

  constructor(base: string) {
    this.#base = base.replace(/\/+$/, '');
  }

  async open(name: string): Promise<AsyncIterable<Buffer> | null> {
    const answer = await this.#ask(name, 'GET');
    return answer?.body
      ? (Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]) as AsyncIterable<Buffer>)
      : null;
  }

  async has(name: string): Promise<boolean> {
    const answer = await this.#ask(name, 'HEAD');
    return answer !== null;
  }

  /** @returns `null` where the address says that there is none, or that it gives it to nobody */
  async #ask(name: string, method: 'GET' | 'HEAD'): Promise<Response | null> {
    const url = `${this.#base}/${encodeURIComponent(name)}`;
    let reason = '';
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await pause(AGAIN_MS);
      const controller = new AbortController();
      const late = setTimeout(() => controller.abort(), ANSWER_MS);
      try {
        const answer = await fetch(url, { method, signal: controller.signal });
        if (answer.ok) return answer;
        await answer.body?.cancel();
        if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) return null;
        reason = `it answers ${answer.status}`;
      } catch (error) {
        const { cause, message } = error as Error;
        reason = cause instanceof Error ? cause.message : message;
      } finally {
        clearTimeout(late);
      }
    }
    throw new OperatorError(`--files-from: ${withoutSecrets(this.#base)}: ${reason}`);
  }
}

function withoutSecrets(address: string): string {
  try {
    const { origin, pathname } = new URL(address);
    return origin + pathname;
  } catch {
    return 'this address cannot be read';
  }
}

/** Brings the bytes of files, or looks whether they could be. */
export class FileBringer {
  readonly #origin: FileOrigin;
  readonly #files: Files | null;
  readonly #system: FileSystem;
  readonly #findings: Findings;
  readonly #turns = pLimit(AT_ONCE);

  /** @param files `null`: nothing is brought */
  constructor(origin: FileOrigin, files: Files | null, system: FileSystem, findings: Findings) {
    this.#origin = origin;
    this.#files = files;
    this.#system = system;
    this.#findings = findings;
  }

  /** Resolves when all are here that there are. @throws OperatorError where the place does not answer; ServiceError where the store does not */
  async bring(named: readonly NamedFile[]): Promise<void> {
    const each = new Map(named.map((file) => [file.name, file]));
    const done = await Promise.allSettled([...each.values()].map((file) => this.#turns(() => this.#bring(file))));
    for (const one of done) if (one.status === 'rejected') throw one.reason;
  }

  async #bring(file: NamedFile): Promise<void> {
    const { sourceName } = file;
    const missing = (reason: string) => this.#findings.files.missing.note(reason, sourceName, reason);
    if (!this.#files) {
      if (await this.#origin.has(sourceName)) this.#findings.files.brought++;
      else missing('not found');
      return;
    }
    try {
      await this.#files.adopt(this.#system, file, async () => (await this.#origin.open(sourceName)) ?? absent());
      this.#findings.files.brought++;
    } catch (error) {
      if (error === notThere) missing('not found');
      else if (error instanceof ServiceError && refusals.has(error.key)) missing(error.message);
      else if (error instanceof ServiceError || error instanceof OperatorError) throw error;
      else throw new OperatorError(`--files-from: ${sourceName}: ${(error as Error).message}`);
    }
  }
}

/** Of one file: the others are brought all the same. */
const refusals: ReadonlySet<string> = new Set(['emptyFile', 'invalidFileType', 'fileTooLarge', 'badFileName']);

const notThere = new Error('there is no such file');
function absent(): never {
  throw notThere;
}
