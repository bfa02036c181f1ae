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
    const path = await this.#pathOf(name);
    return path === null ? null : createReadStream(path);
  }

  async has(name: string): Promise<boolean> {
    return (await this.#pathOf(name)) !== null;
  }

  /** Names come from the source: none leads out of the directory. Parse Server's adapter for directories percent-encodes them. */
  async #pathOf(name: string): Promise<string | null> {
    for (const file of [name, encodeURIComponent(name.toWellFormed())]) {
      if (basename(file) !== file || file.includes('\\') || file.includes('\0') || file === '..') continue;
      const path = join(this.#directory, file);
      if ((await realpath(path).catch(() => null)) === path && (await stat(path)).isFile()) return path;
    }
    return null;
  }
}

class AddressOrigin implements FileOrigin {
  readonly #base: URL;
  readonly #headers: Record<string, string> = {};

  constructor(base: string) {
    if (!URL.canParse(base)) throw new OperatorError('--files-from: this address cannot be read');
    this.#base = new URL(base);
    const { username, password } = this.#base;
    if (username !== '' || password !== '') {
      const name = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
      this.#headers.Authorization = `Basic ${Buffer.from(name).toString('base64')}`;
    }
    this.#base.username = '';
    this.#base.password = '';
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
    const url = new URL(this.#base);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/${encodeURIComponent(name.toWellFormed())}`;
    let reason = '';
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await pause(AGAIN_MS);
      const controller = new AbortController();
      const late = setTimeout(() => controller.abort(), ANSWER_MS);
      try {
        const answer = await fetch(url, { method, headers: this.#headers, signal: controller.signal });
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
    // Without its parameters, which may hold a key.
    throw new OperatorError(`--files-from: ${this.#base.origin}${this.#base.pathname}: ${reason}`);
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
    const byName = Map.groupBy(named, ({ name }) => name);
    const done = await Promise.allSettled([...byName.values()].map((same) => this.#turns(() => this.#bring(same))));
    for (const one of done) if (one.status === 'rejected') throw one.reason;
  }

  /** @param same values that hold one file; they are what is counted */
  async #bring(same: readonly NamedFile[]): Promise<void> {
    const [file] = same as readonly [NamedFile];
    const reason = await this.#obstacleTo(file);
    if (reason === null) this.#findings.files.brought += same.length;
    else for (const { sourceName } of same) this.#findings.files.missing.note(reason, sourceName, reason);
  }

  /** @returns why the file is not here; `null` where it is */
  async #obstacleTo(file: NamedFile): Promise<string | null> {
    const { sourceName } = file;
    if (!this.#files) return (await this.#origin.has(sourceName)) ? null : 'not found';
    try {
      await this.#files.adopt(this.#system, file, async () => (await this.#origin.open(sourceName)) ?? absent());
      return null;
    } catch (error) {
      if (error === notThere) return 'not found';
      if (error instanceof ServiceError && refusals.has(error.key)) return error.message;
      if (error instanceof ServiceError || error instanceof OperatorError) throw error;
      throw new OperatorError(`--files-from: ${sourceName}: ${(error as Error).message}`);
    }
  }
}

/** Of one file: the others are brought all the same. */
const refusals: ReadonlySet<string> = new Set(['emptyFile', 'invalidFileType', 'fileTooLarge', 'badFileName']);

const notThere = new Error('there is no such file');
function absent(): never {
  throw notThere;
}
