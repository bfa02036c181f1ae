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

/** Files copied concurrently. */
const CONCURRENCY = 4;
/** Attempts to request a URL, and delay between them in milliseconds. */
const MAX_ATTEMPTS = 4;
const RETRY_DELAY_MS = 1_000;
/** Timeout until the headers of an answer arrive, in milliseconds. */
const RESPONSE_TIMEOUT_MS = 30_000;

/** Source of the bytes of files. */
export interface FileOrigin {
  /** Opens a file; `null` if it does not exist. @throws OperatorError if the source does not answer */
  open(name: string): Promise<AsyncIterable<Buffer> | null>;
  has(name: string): Promise<boolean>;
}

/**
 * Opens a source of files.
 * @param from a directory, or a base URL to which the names of files are appended
 * @throws OperatorError if the directory does not exist
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

  /**
   * Returns the path of a file. Names come from the source, so they must not lead out of the directory. Parse Server's adapter percent-encodes them.
   */
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
    const answer = await this.#request(name, 'GET');
    return answer?.body
      ? (Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]) as AsyncIterable<Buffer>)
      : null;
  }

  async has(name: string): Promise<boolean> {
    const answer = await this.#request(name, 'HEAD');
    return answer !== null;
  }

  /** @returns `null` if the server answers that the file does not exist, or denies access */
  async #request(name: string, method: 'GET' | 'HEAD'): Promise<Response | null> {
    const url = new URL(this.#base);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/${encodeURIComponent(name.toWellFormed())}`;
    let reason = '';
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (attempt > 0) await pause(RETRY_DELAY_MS);
      const controller = new AbortController();
      const late = setTimeout(() => controller.abort(), RESPONSE_TIMEOUT_MS);
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
    // Without query parameters, which may contain a key.
    throw new OperatorError(`--files-from: ${this.#base.origin}${this.#base.pathname}: ${reason}`);
  }
}

/** Copies the bytes of files, or in a dry run checks that they exist. */
export class FileCopier {
  readonly #origin: FileOrigin;
  readonly #files: Files | null;
  readonly #system: FileSystem;
  readonly #findings: Findings;
  readonly #limit = pLimit(CONCURRENCY);

  /** @param files `null` for a dry run */
  constructor(origin: FileOrigin, files: Files | null, system: FileSystem, findings: Findings) {
    this.#origin = origin;
    this.#files = files;
    this.#system = system;
    this.#findings = findings;
  }

  /** Copies files that exist. @throws OperatorError if the source does not answer; ServiceError if the store does not */
  async copy(named: readonly NamedFile[]): Promise<void> {
    const byName = Map.groupBy(named, ({ name }) => name);
    const done = await Promise.allSettled([...byName.values()].map((same) => this.#limit(() => this.#copy(same))));
    for (const one of done) if (one.status === 'rejected') throw one.reason;
  }

  /** @param same values that refer to one file; each is counted */
  async #copy(same: readonly NamedFile[]): Promise<void> {
    const [file] = same as readonly [NamedFile];
    const reason = await this.#obstacleTo(file);
    if (reason === null) this.#findings.files.copied += same.length;
    else for (const { sourceName } of same) this.#findings.files.missing.add(reason, sourceName, reason);
  }

  /** @returns the reason why the file was not copied; `null` if it was */
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

/** Errors that affect one file only. */
const refusals: ReadonlySet<string> = new Set(['emptyFile', 'invalidFileType', 'fileTooLarge', 'badFileName']);

const notThere = new Error('there is no such file');
function absent(): never {
  throw notThere;
}
