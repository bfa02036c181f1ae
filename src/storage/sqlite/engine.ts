import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileAddresses } from '../../config/index.ts';
import type { Conditions } from '../../observe/index.ts';
import type { Engine, Store } from '../port.ts';
import { probeDirectory } from './probe.ts';
import { ReaderPool, type ReportFault } from './reads/pool.ts';
import { SqliteStore } from './store.ts';

/** What the engine is told of the world. */
export interface SqliteSettings {
  /** Milliseconds of work that a query may take (QUERY_TIMEOUT_MS). */
  readonly timeLimit: number;
  /** Told of faults that no client sees. */
  readonly report: ReportFault;
  /** Told of faults that can pass, by the application id of their system. Nobody where it is left out. */
  readonly conditions?: Pick<Conditions, 'met' | 'over'>;
  /** Where the files of a system are, as clients see them now. */
  readonly addressesOf: (appId: string) => FileAddresses;
}

/** The embedded engine: a SQLite file for each system, under one directory. */
export class SqliteEngine implements Engine {
  readonly #directory: string;
  readonly #pool: ReaderPool;
  readonly #report: ReportFault;
  readonly #addressesOf: SqliteSettings['addressesOf'];
  #probing: Promise<void> | undefined;

  /** @param directory where the systems' folders are */
  constructor(directory: string, { timeLimit, report, addressesOf }: SqliteSettings) {
    this.#directory = directory;
    this.#report = report;
    this.#addressesOf = addressesOf;
    this.#pool = new ReaderPool(timeLimit, report);
  }

  async open(appId: string): Promise<Store> {
    const folder = join(this.#directory, appId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new SqliteStore(join(folder, 'records.sqlite'), {
      pool: this.#pool,
      report: this.#report,
      addresses: () => this.#addressesOf(appId),
    });
  }

  /** One that hangs is waited for again: several would take the threads that all file work shares. */
  probe(): Promise<void> {
    this.#probing ??= probeDirectory(this.#directory).finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
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
