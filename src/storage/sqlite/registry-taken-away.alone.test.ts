/** A registry whose parts are taken away while it is served, or after a kill. Reference: faults.md#missing-and-foreign-stores. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, beforeEach, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { newObjectId } from '../../kernel/ids.ts';
import { entryOf } from '../testing/entry.ts';
import { SqliteRegistry } from './registry.ts';

describe('a registry', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rds-registry-'));
  const conditions = new Set<string>();
  const told = { met: (what: string) => void conditions.add(what), over() {} };
  let path: string;
  let registry: SqliteRegistry;
  const key = (name: string) => registry.addKey({ appId: 'app', name, hash: name, createdAt: 1 });
  const names = () => registry.read().keys.map(({ name }) => name);
  /** Another process, with its own WAL index. */
  const another = (name: string) =>
    execFileSync(process.execPath, [
      '-e',
      `const db = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
       db.exec("INSERT INTO keys (appId, name, hash, createdAt) VALUES ('app', '" + process.argv[2] + "', '" + process.argv[2] + "', 1)");
       db.close()`,
      path,
      name,
    ]);

  beforeEach(async () => {
    await registry?.close();
    path = join(directory, `${newObjectId()}.sqlite`);
    registry = new SqliteRegistry(path, told);
    const entry = entryOf('app');
    await registry.addSystem(entry, [], async () => undefined);
    assert.equal(await key('one'), true);
    registry.version();
    conditions.clear();
  });
  after(async () => {
    await registry.close();
    rmSync(directory, { recursive: true });
  });

  for (const ends of [['-shm'], ['-wal'], ['-wal', '-shm']])
    test(`whose ${ends.join(' and ')} was removed is opened again: nothing of it, or of others' changes, is lost`, async () => {
      for (const end of ends) rmSync(`${path}${end}`);
      await wait(10);
      registry.version();
      assert.deepEqual(names(), ['one']);
      another('two');
      assert.equal(await key('three'), true);
      another('four');
      assert.deepEqual(names().toSorted(), ['four', 'one', 'three', 'two']);
      assert.deepEqual([...conditions], ['the store is missing']);
      await registry.close();
      registry = new SqliteRegistry(path, told);
      assert.deepEqual(names().toSorted(), ['four', 'one', 'three', 'two']);
    });

  test('whose log was removed after a kill says since when changes may be missing, once, and its new log is its own', async () => {
    const left = `${path}.left`;
    copyFileSync(path, left);
    copyFileSync(`${path}-mark`, `${left}-mark`);
    await registry.close();
    path = left;
    const since: number[] = [];
    registry = new SqliteRegistry(path, told, (at) => since.push(at));
    assert.equal(since.length, 1);
    const other = new SqliteRegistry(path, told, (at) => since.push(at));
    other.close();
    assert.equal(since.length, 1);
  });

  test('that is away and comes back is read again, and a write meanwhile is refused', async () => {
    renameSync(path, `${path}.aside`);
    await wait(10);
    registry.version();
    await assert.rejects(key('two'));
    renameSync(`${path}.aside`, path);
    await wait(300);
    assert.equal(await key('three'), true);
    assert.deepEqual(names(), ['one', 'three']);
    const db = new DatabaseSync(path, { readOnly: true });
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
    db.close();
  });
});
