import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine, Store } from '../port.ts';
import { ReaderPool, type ReportFault } from './reads/pool.ts';
import { SqliteStore } from './store.ts';

/** The embedded engine: a SQLite file for each system, under one directory. */
export class SqliteEngine implements Engine {
  readonly #directory: string;
  readonly #pool: ReaderPool;
  readonly #report: ReportFault;

  /**
   * @param directory where the systems' folders are
   * @param timeLimit milliseconds of work that a query may take (QUERY_TIMEOUT_MS)
   */
  constructor(directory: string, timeLimit: number, report: ReportFault) {
    this.#directory = directory;
    this.#report = report;
    this.#pool = new ReaderPool(timeLimit, report);
  }

  async open(appId: string): Promise<Store> {
    const folder = join(this.#directory, appId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new SqliteStore(join(folder, 'records.sqlite'), this.#pool, this.#report);
  }

  warmUp(): void {
    this.#pool.warmUp();
  }

  async remove(appId: string): Promise<void> {
    await rm(join(this.#directory, appId), { recursive: true, force: true });
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}
