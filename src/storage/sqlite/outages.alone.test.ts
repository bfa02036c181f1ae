/** A store whose file others lock, take away, replace, damage or fill. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isInDoubt, isUnavailable } from '../../errors/fail.ts';
import { newObjectId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { countRecords, createRecord, findRecords } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import { rowContext } from '../sql/testing/addresses.ts';
import { ReaderPool } from './reads/reader-pool.ts';
import { SqliteStore } from './store.ts';

describe('a store in outages', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rds-outages-'));
  let pool: ReaderPool;
  let store: SqliteStore;
  let path: string;
  let conditions: string[] = [];
  let damage: boolean[] = [];
  const open = () =>
    new SqliteStore(path, {
      pool,
      report: assert.fail,
      appId: 'app',
      conditions: {
        met: (what, about) => {
          assert.deepEqual(about, { app: 'app', file: path });
          if (conditions.at(-1) !== what) conditions.push(what);
        },
        over: () => conditions.push('over'),
      },
      onDamaged: (isDamaged) => damage.push(isDamaged),
      ...rowContext,
    });
  const create = (body: JsonObject) => createRecord(masterContext(store), 'Kept', body);
  const count = (table = 'Kept') => countRecords(masterContext(store), table);
  const soon = async (holds: () => boolean | Promise<boolean>, within = 10_000) => {
    for (const until = performance.now() + within; !(await holds()); await wait(20)) assert.ok(performance.now() < until);
  };
  const isRefused = (write: Promise<unknown>) =>
    write.then(
      () => false,
      (error) => isUnavailable(error) || assert.fail(error as Error),
    );

  before(() => {
    pool = new ReaderPool(10_000, assert.fail);
  });
  beforeEach(async () => {
    await store?.close();
    path = join(directory, `${newObjectId()}.sqlite`);
    store = open();
    conditions = [];
    damage = [];
    await create({ n: 0 });
  });
  after(async () => {
    await store.close();
    await pool.close();
    rmSync(directory, { recursive: true });
  });

  test("another's write lock is waited for while others are served; after five seconds writes are refused", async () => {
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const early = create({ n: 1 });
    let turns = 0;
    const counting = setInterval(() => turns++, 5);
    await wait(300);
    assert.equal(await count(), 1);
    assert.ok(turns > 10, `${turns} turns of the event loop`);
    other.exec('COMMIT');
    await early;
    other.exec('BEGIN IMMEDIATE');
    const late = isRefused(create({ n: 2 }));
    const settling = wait(3_000).then(() => create({ n: 3 }));
    assert.equal(await late, true);
    assert.deepEqual(conditions, ['the store is busy']);
    other.exec('COMMIT');
    await settling;
    await store.whenBack();
    clearInterval(counting);
    assert.deepEqual(conditions, ['the store is busy', 'over']);
    other.close();
    assert.equal(await count(), 3);
  });

  test('a file that was taken away is not written to: nothing is acknowledged until it is back', async () => {
    const aside = `${path}.aside`;
    renameSync(path, aside);
    const error = await create({ n: 1 }).catch((thrown) => thrown);
    assert.ok(isInDoubt(error) || isUnavailable(error), String(error));
    assert.equal(await isRefused(create({ n: 2 })), true);
    await assert.rejects(store.whenCurrent(), isUnavailable);
    assert.equal(store.isCurrent(), false);
    await wait(700);
    assert.equal(await isRefused(create({ n: 2 })), true);
    assert.deepEqual(conditions, ['the store is missing']);
    renameSync(aside, path);
    await store.whenBack();
    await create({ n: 3 });
    assert.deepEqual(conditions, ['the store is missing', 'over']);
    assert.ok([2, 3].includes((await count()) ?? 0));
  });

  test('one that was replaced is opened again, with its own schema', async () => {
    const other = `${path}.other`;
    const pristine = new SqliteStore(other, { pool, report: assert.fail, ...rowContext });
    await createRecord(masterContext(pristine), 'Others', { text: 'x' });
    await pristine.close();
    for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
    renameSync(other, path);
    await create({ n: 1 }).catch(() => {});
    await soon(() => store.schema().tables.has('Others'));
    await store.whenBack();
    assert.equal(await count('Others'), 1);
  });

  test('a log that was taken away is saved into the file', async () => {
    for (let n = 1; n < 20; n++) await create({ n });
    rmSync(`${path}-wal`);
    const error = await create({ n: 20 }).catch((thrown) => thrown);
    assert.ok(isInDoubt(error) || isUnavailable(error), String(error));
    await store.whenBack();
    assert.ok([20, 21].includes((await count()) ?? 0));
    await create({ n: 21 });
    await store.close();
    store = open();
    assert.ok([21, 22].includes((await count()) ?? 0));
  });

  test('a damaged file is refused as a whole, and served again when it was replaced by a sound one', async () => {
    for (let n = 0; n < 50; n++) await create({ n, text: 'x'.repeat(3_000) });
    await store.close();
    copyFileSync(path, `${path}.sound`);
    const bytes = readFileSync(path);
    // Everything except the catalogue, which comes first.
    bytes.fill(0xa5, Math.floor(bytes.length / 2));
    writeFileSync(path, bytes);
    store = open();
    const scan = () =>
      findRecords(masterContext(store), 'Kept', { where: { text: { $regex: 'y$' } } }).then(
        () => false,
        (error) => isUnavailable(error) || assert.fail(error),
      );
    assert.equal(await scan(), true);
    assert.deepEqual(conditions, ['a page cannot be read']);
    await soon(async () => {
      await scan();
      return damage.length > 0;
    });
    assert.deepEqual([damage, conditions.at(-1)], [[true], 'the store is damaged']);
    assert.equal(await isRefused(create({ n: 1 })), true);
    await assert.rejects(store.whenCurrent(), isUnavailable);
    renameSync(`${path}.sound`, path);
    await store.whenBack();
    assert.equal(await scan(), false);
    assert.deepEqual(damage, [true, false]);
    await create({ n: 1 });
  });

  test('the log stays bounded under load and is short again after it; a reader of an old state holds up nobody', async () => {
    const log = () => statSync(`${path}-wal`).size;
    const text = 'x'.repeat(60_000);
    const load = async (megabytes: number) => {
      for (let n = 0; n < megabytes; n += 2) await Promise.all(Array.from({ length: 30 }, () => create({ text })));
    };
    await load(100);
    assert.ok(log() < 80_000_000, `${log()}`);
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
    await load(60);
    assert.ok(log() > 50_000_000, `${log()}`);
    reader.exec('COMMIT');
    reader.close();
    await soon(async () => {
      await create({ n: 1 });
      await wait(100);
      return log() <= 34_000_000;
    });
    assert.deepEqual(conditions, []);
  });
});
