import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail } from '../errors/fail.ts';
import type { JsonText } from './port.ts';

/** A record with only an objectId, and the delimiter before it. */
const record = /[[,]\{"objectId":("(?:[^"\\]|\\.)*")\}/y;

/** Maximum number of ids in memory; more are written to a temporary file. An export with a stalled client holds them for long, as does a long write. */
const MAX_IN_MEMORY = 10_000;
/** Bytes read from the file at once. */
const CHUNK_BYTES = 64 * 1024;

/** The ids of records in order, as of one moment, consumed from the front. Memory use is bounded. */
export class SortedIds {
  /** JSON texts; those before `#next` have been consumed. */
  #ids: string[] = [];
  #next = 0;
  #count = 0;
  #taken = 0;
  /** One id per line. The file is unlinked, so it disappears with the process. */
  #file: FileHandle | null = null;
  #readTo = 0;
  #line: Buffer = Buffer.alloc(0);

  /**
   * Collects the ids of a result.
   * @param results JSON array of records with only an objectId
   * @param until aborts when the client has gone
   * @throws timeout; errors of the stream; errors of the operating system if a temporary file cannot be written
   */
  static async of(results: JsonText, until?: AbortSignal): Promise<SortedIds> {
    const ids = new SortedIds();
    try {
      let rest = '';
      for await (const piece of typeof results === 'string' ? [results] : results) {
        if (until?.aborted) fail('timeout');
        rest = ids.#add(rest + piece);
        if (ids.#ids.length > MAX_IN_MEMORY) await ids.#spill();
      }
      if (rest !== ']' && rest !== '[]') throw new Error('the list of ids is cut off');
      if (ids.#file) await ids.#spill();
      return ids;
    } catch (error) {
      await ids.close();
      throw error;
    }
  }

  /** Number of ids, consumed ones included. */
  get count(): number {
    return this.#count;
  }

  /** Share that has been consumed, from 0 to 1. */
  get share(): number {
    return this.#count === 0 ? 1 : this.#taken / this.#count;
  }

  /** Returns the next ids without consuming them, at most `atMost`; empty at the end. */
  async peek(atMost: number): Promise<readonly string[]> {
    while (this.#ids.length - this.#next < atMost && (await this.#readOn()));
    return this.#ids.slice(this.#next, this.#next + atMost).map((id) => JSON.parse(id) as string);
  }

  take(count: number): void {
    this.#next += count;
    this.#taken += count;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  /** Extracts the complete records. @returns the rest of the text */
  #add(text: string): string {
    record.lastIndex = 0;
    let end = 0;
    for (let found = record.exec(text); found; found = record.exec(text)) {
      this.#ids.push(found[1] as string);
      this.#count++;
      end = record.lastIndex;
    }
    return text.slice(end);
  }

  async #spill(): Promise<void> {
    this.#file ??= await unnamedFile();
    await this.#file.appendFile(this.#ids.map((id) => `${id}\n`).join(''));
    this.#ids = [];
  }

  /** Reads more ids from the file. @returns whether there were more */
  async #readOn(): Promise<boolean> {
    if (!this.#file) return false;
    const { bytesRead, buffer } = await this.#file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, this.#readTo);
    if (bytesRead === 0) return false;
    this.#readTo += bytesRead;
    const read = Buffer.concat([this.#line, buffer.subarray(0, bytesRead)]);
    const end = read.lastIndexOf(10) + 1;
    this.#line = read.subarray(end);
    const more = end === 0 ? [] : read.toString('utf8', 0, end - 1).split('\n');
    this.#ids = [...this.#ids.slice(this.#next), ...more];
    this.#next = 0;
    return true;
  }
}

async function unnamedFile(): Promise<FileHandle> {
  const directory = await mkdtemp(join(tmpdir(), 'record-service-'));
  try {
    return await open(join(directory, 'ids'), 'wx+', 0o600);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
