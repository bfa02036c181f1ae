import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { entryOf } from '../testing/entry.ts';
import { SqliteRegistry } from './registry.ts';

test('a registry that has systems and has lost its salt is refused: it would make their keys worth nothing', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'rds-registry-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'registry.sqlite');
  const registry = new SqliteRegistry(path);
  const system = entryOf('one');
  assert.equal(await registry.addSystem(system, [], async () => undefined), true);
  await registry.close();
  const db = new DatabaseSync(path);
  db.exec('DELETE FROM installation');
  db.close();
  assert.throws(() => new SqliteRegistry(path), /registry\.sqlite is damaged: it has lost its salt/);
});
