import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach } from 'node:test';
import { newObjectId } from '../../../kernel/ids.ts';
import { rowContext } from '../../sql/testing/addresses.ts';
import { ReaderPool } from '../reads/reader-pool.ts';
import { SqliteStore } from '../store.ts';

/** Opens a separate store for each test of a file, and closes it. @param prepare prepares it before the test */
export function eachWithStore(prepare: (store: SqliteStore) => void | Promise<void>): void {
  const directory = mkdtempSync(join(tmpdir(), 'rds-store-'));
  let pool: ReaderPool;
  let store: SqliteStore | undefined;
  before(() => {
    pool = new ReaderPool(10_000, assert.fail);
  });
  beforeEach(async () => {
    await store?.close();
    store = new SqliteStore(join(directory, `${newObjectId()}.sqlite`), { pool, report: assert.fail, ...rowContext });
    await prepare(store);
  });
  after(async () => {
    await store?.close();
    await pool.close();
    rmSync(directory, { recursive: true });
  });
}
