/** Parts of a file that others take away, or replace, while it is served (docs/adr/0020). */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isUnavailable } from '../../errors/fail.ts';
import { newObjectId } from '../../kernel/ids.ts';
import { countRecords, createRecord } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import { type KnownStore, knownOf, newIdentity } from '../identity.ts';
import type { Store } from '../port.ts';
import { addressesOf } from '../sql/testing/addresses.ts';
import { copyWal } from './connection/statements.ts';
import { SqliteEngine } from './engine.ts';

describe('a file that is served', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rds-taken-'));
  const conditions = new Set<string>();
  const told = { met: (what: string) => void conditions.add(what), over() {} };
  const settings = { timeLimit: 10_000, report: assert.fail, conditions: told, addressesOf };
  let engine: SqliteEngine;
  let known: KnownStore;
  let store: Store;
  let path: string;
  const serve = async () => {
    const opened = await engine.open(known, 'serving', async (generation) => {
      known = { ...known, generation };
    });
    known = { ...known, generation: opened.identity.generation };
    store = opened.store;
  };
  const create = async (n: number, text = '') => createRecord(masterContext(store), 'Kept', { n, text });
  const count = () => countRecords(masterContext(store), 'Kept');
  const isRefused = (work: Promise<unknown>) =>
    work.then(
      () => false,
      (error) => isUnavailable(error) || assert.fail(error as Error),
    );
  const isSound = () => {
    const db = new DatabaseSync(path, { readOnly: true });
    const found = db.prepare('PRAGMA integrity_check').get()?.integrity_check;
    db.close();
    assert.equal(found, 'ok');
  };

  before(() => {
    engine = new SqliteEngine(directory, settings);
  });
  beforeEach(async () => {
    await store?.close();
    const identity = newIdentity(newObjectId(), newObjectId(), 'salt');
    await (await engine.create(identity)).close();
    known = knownOf(identity);
    path = join(directory, identity.appId, 'records.sqlite');
    await serve();
    for (let n = 0; n < 5; n++) await create(n);
    conditions.clear();
  });
  after(async () => {
    await store.close();
    await engine.close();
    rmSync(directory, { recursive: true });
  });

  test('a log that was removed is saved as soon as a reader of an old state lets it', async () => {
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
    for (let n = 0; n < 5; n++) await create(n);
    // A check before a commit is valid for some milliseconds.
    await wait(10);
    rmSync(`${path}-wal`);
    assert.equal(await isRefused(create(10)), true);
    await wait(700);
    assert.equal(await isRefused(create(10)), true);
    reader.exec('COMMIT');
    reader.close();
    await store.whenBack();
    assert.equal(await count(), 10);
    await create(10);
    isSound();
    assert.deepEqual([...conditions], ['the store is missing']);
  });

  test('a log of which nobody says how long it is does not count as saved: somebody else may be copying it', () => {
    const db = new DatabaseSync(':memory:');
    assert.equal(copyWal(db), false);
    db.close();
  });

  test('an index that was removed is created again before anything is written: another process may have made one', async () => {
    await wait(10);
    rmSync(`${path}-shm`);
    const writing = wait(10).then(() => create(5));
    assert.equal(await isRefused(writing), true);
    await store.whenBack();
    await wait(10);
    rmSync(`${path}-shm`);
    const other = new SqliteEngine(directory, { ...settings, isServedElsewhere: () => true });
    // A command waits until the service has detected it by itself.
    const { store: same } = await other.open(known, 'work');
    await createRecord(masterContext(same), 'Kept', { n: 5 });
    await same.close();
    await other.close();
    await store.whenBack();
    const write = `UPDATE rds_catalog SET changes = changes + 1`;
    const script = `const db = new (require('node:sqlite').DatabaseSync)(process.argv[1]); db.exec(process.argv[2]); db.close()`;
    for (let n = 6; n < 9; n++) {
      await create(n);
      execFileSync(process.execPath, ['-e', script, path, write]);
    }
    assert.equal(await count(), 9);
    isSound();
  });

  test('one that is gone as a whole is reported only to who asks for it, as a system may be removed', async () => {
    renameSync(path, `${path}.aside`);
    await wait(1_100);
    assert.deepEqual([...conditions], []);
    renameSync(`${path}.aside`, path);
    assert.equal(await count(), 5);
  });

  test('what keeps it from being opened is reported, and that it is over', async () => {
    await store.close();
    const file = path;
    const over: unknown[] = [];
    const telling = new SqliteEngine(directory, { ...settings, conditions: { ...told, over: (about) => over.push(about) } });
    for (const end of ['', '-shm', '-wal']) {
      conditions.clear();
      over.length = 0;
      if (end === '') renameSync(path, `${path}.aside`);
      symlinkSync(`${path}${end}`, `${path}${end}`);
      await assert.rejects(telling.open(known, 'work'), isUnavailable);
      assert.deepEqual([...conditions], ['the store cannot be opened'], end);
      rmSync(`${path}${end}`);
      if (end === '') renameSync(`${path}.aside`, path);
      await (await telling.open(known, 'work')).store.close();
      assert.deepEqual(over[0], { app: known.appId, file });
    }
    await telling.close();
    await serve();
  });

  test('a copy of it that was made a moment ago does not take its place, nor after a restart; it does itself', async () => {
    const [aside, copy] = [`${path}.aside`, `${path}.copy`];
    // The file itself contains what was served until then.
    const db = new DatabaseSync(path);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    copyFileSync(path, copy);
    copyFileSync(copy, `${copy}2`);
    await create(5);
    await wait(10);
    renameSync(path, aside);
    renameSync(copy, path);
    assert.equal(await isRefused(create(6)), true);
    await wait(700);
    assert.equal(await isRefused(create(6)), true);
    assert.deepEqual([...conditions], ['the store is missing', 'the store is older than the registry says']);
    renameSync(aside, path);
    await store.whenBack();
    assert.equal(await count(), 6);
    await create(6);
    await wait(10);
    renameSync(path, aside);
    renameSync(`${copy}2`, path);
    assert.equal(await isRefused(create(7)), true);
    await store.close();
    await assert.rejects(serve(), /is older than the registry says/);
    renameSync(aside, path);
    await serve();
    assert.equal(await count(), 7);
  });
});
