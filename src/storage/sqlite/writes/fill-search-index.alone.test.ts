import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { newObjectId } from '../../../kernel/ids.ts';
import { SEARCH_INDEX } from '../../../schema/search-index.ts';
import { rowContext } from '../../sql/testing/addresses.ts';
import { FilledTable } from '../../sql/testing/fill-cases.ts';
import { ReaderPool } from '../reads/reader-pool.ts';
import { SqliteStore } from '../store.ts';

const RECORDS = 1_500;

describe('a search index is filled by steps', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rds-fill-'));
  let pool: ReaderPool;
  let path: string;
  let store: SqliteStore;
  let filled: FilledTable;
  const open = () => {
    store = new SqliteStore(path, { pool, report: assert.fail, ...rowContext });
  };
  /** Stops before the step after this many. */
  const enoughAfter = (steps: number) => {
    let left = steps;
    return () => left-- === 0;
  };
  const raw = <T>(work: (db: DatabaseSync) => T): T => {
    const db = new DatabaseSync(path);
    try {
      return work(db);
    } finally {
      db.close();
    }
  };
  const upTo = () => raw((db) => Number(db.prepare(`SELECT upTo FROM "t_T~search~filled"`).get()?.upTo));

  before(() => {
    pool = new ReaderPool(10_000, assert.fail);
  });
  beforeEach(async () => {
    path = join(directory, `${newObjectId()}.sqlite`);
    open();
    filled = new FilledTable(() => store, 'T');
    await filled.make(RECORDS);
  });
  afterEach(() => store.close());
  after(async () => {
    await pool.close();
    rmSync(directory, { recursive: true });
  });

  test('while others write', async () => {
    await filled.disturb();
    const filling = filled.fill();
    for (let time = 0; time < 5; time++) await filled.disturb();
    await filling;
    await filled.disturb();
    await filled.check();
  });

  test('a store that is closed meanwhile does not wait for it, and the next goes on from there', async () => {
    await filled.fill(enoughAfter(2));
    await filled.disturb();
    const reached = upTo();
    assert.ok(reached > 0 && reached < RECORDS);
    const filling = assert.rejects(filled.fill(), { key: 'unavailable' });
    await store.close();
    await filling;
    open();
    await filled.fill(enoughAfter(1));
    assert.ok(upTo() > reached);
    await filled.disturb();
    await filled.fill();
    await filled.check();
    // Nothing is left to do.
    await filled.fill();
  });

  test('a step that fails leaves all as it was, and the next call goes on', async () => {
    await filled.fill(enoughAfter(1));
    const reached = upTo();
    raw((db) => db.exec(`CREATE TRIGGER stop BEFORE UPDATE ON "t_T~search~filled" BEGIN SELECT RAISE(ABORT, 'stopped'); END`));
    await assert.rejects(filled.fill(), /stopped/);
    await filled.disturb();
    assert.equal(upTo(), reached);
    raw((db) => db.exec('DROP TRIGGER stop'));
    await filled.fill();
    await filled.check();
  });

  test('a field that goes meanwhile takes the index along; another one is filled again', async () => {
    await filled.fill(enoughAfter(2));
    const filling = filled.fill();
    await filled.change({ kind: 'dropField', className: 'T', name: 'Mobile' });
    await filling;
    assert.equal(filled.table.indexes.has(SEARCH_INDEX), false);
    await filled.disturb();
    await filled.index();
    await filled.fill();
    await filled.check();
  });

  test('a table of many other fields keeps the state of its index', async () => {
    await filled.fill(enoughAfter(2));
    const fields = Array.from({ length: 100 }, (_, at) => `f${at}`);
    await filled.change(...fields.map((name) => ({ kind: 'addField', className: 'T', name, type: 'Number' }) as const));
    await filled.disturb();
    await filled.fill();
    await filled.check();
  });
});
