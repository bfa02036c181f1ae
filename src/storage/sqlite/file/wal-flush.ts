import { closeSync, fdatasync, fsync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Connection } from '../connection/connection.ts';
import { FRAME_HEADER_BYTES, frameOffset, headerIn } from './wal-header.ts';

/** Bytes that are read and written at once where pages are written again. */
const CHUNK_BYTES = 1024 * 1024;

/** Two copies of the header of the WAL index: SQLite makes the index anew if they are invalid (https://sqlite.org/walformat.html). */
const INDEX_HEADER_BYTES = 2 * 48;

const dataSynced = promisify(fdatasync);
const synced = promisify(fsync);

/** Flushes the WAL of a store's connection on a thread of the pool, so that the event loop does not wait for the disk. */
export class WalFlush {
  readonly #connection: Pick<Connection, 'path' | 'openings'>;
  #descriptor: number | undefined;
  #index: number | undefined;
  /** Descriptors of the store's file, by opening of the connection. Closing one before the connection would release SQLite's locks. */
  readonly #files = new Map<number, number>();
  /** Opening of the connection to which the descriptor belongs. */
  #opening = 0;
  /** Whether the WAL's entry in its directory has been flushed. */
  #isEntered = false;

  constructor(connection: Pick<Connection, 'path' | 'openings'>) {
    this.#connection = connection;
  }

  /** Makes everything durable that is in the WAL now. One call at a time. @throws the operating system's error */
  async flush(): Promise<void> {
    if (this.#opening !== this.#connection.openings) this.close();
    this.#opening = this.#connection.openings;
    this.#descriptor ??= openSync(this.#path, 'r');
    await dataSynced(this.#descriptor);
    if (!this.#isEntered) await this.#enter();
  }

  /**
   * Flushes the store's file, with the pages that were copied into it. SQLite flushes it when it begins the WAL anew, while writes wait; then little is
   * left to do. Never rejects: SQLite meets the same error.
   */
  async flushFile(): Promise<void> {
    const { path, openings } = this.#connection;
    try {
      const descriptor = this.#files.get(openings) ?? openSync(path, 'r');
      this.#files.set(openings, descriptor);
      await dataSynced(descriptor);
    } catch {
      // SQLite flushes all of it.
    }
  }

  /**
   * Writes the pages of the WAL from one on again: after a failed flush the operating system may treat them as written although the disk does not have
   * them. Only under the write lock. Synchronous, but does not wait for the disk.
   * @throws the operating system's error
   */
  rewrite(fromPage: number): void {
    this.#change(fromPage, (file, page) => {
      const bytes = Buffer.alloc(CHUNK_BYTES);
      // The header goes with the first page.
      for (let at = fromPage === 0 ? 0 : page; ; ) {
        const length = readSync(file, bytes, 0, bytes.length, at);
        if (length === 0) return;
        for (let written = 0; written < length; ) written += writeSync(file, bytes, written, length - written, at + written);
        at += length;
      }
    });
  }

  /**
   * Takes back the transactions of the WAL from one page on: their first page becomes invalid, and SQLite reads the WAL again, as after a crash. Only
   * under the write lock, and while no connection reads what is taken back.
   * @throws the operating system's error
   */
  cut(fromPage: number): void {
    this.#change(fromPage, (file, page) => writeSync(file, Buffer.alloc(FRAME_HEADER_BYTES), 0, FRAME_HEADER_BYTES, page));
    // Closing it would release SQLite's locks.
    this.#index ??= openSync(`${this.#connection.path}-shm`, 'r+');
    writeSync(this.#index, Buffer.alloc(INDEX_HEADER_BYTES), 0, INDEX_HEADER_BYTES, 0);
  }

  /** @param work is passed the WAL and where a page begins in it */
  #change(pageIndex: number, work: (file: number, page: number) => void): void {
    const file = openSync(this.#path, 'r+');
    try {
      work(file, frameOffset(pageIndex, headerIn(file)?.pageSize ?? 0));
    } finally {
      closeSync(file);
    }
  }

  /** A new file is lost in a power cut if the directory is not flushed. */
  async #enter(): Promise<void> {
    const directory = openSync(dirname(this.#path), 'r');
    try {
      await synced(directory);
      this.#isEntered = true;
    } finally {
      closeSync(directory);
    }
  }

  get #path(): string {
    return `${this.#connection.path}-wal`;
  }

  /** Call when SQLite has closed the file. */
  closed(): void {
    if (this.#index !== undefined) closeSync(this.#index);
    this.#index = undefined;
    for (const descriptor of this.#files.values()) closeSync(descriptor);
    this.#files.clear();
  }

  /** Call while nothing is being flushed. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#isEntered = false;
  }
}
