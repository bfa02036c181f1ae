import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { DAY_MS } from '../kernel/time.ts';
import type { Engine } from '../storage/engine.ts';
import { UsedSinceRemoval } from '../storage/identity.ts';
import { SqliteRegistry } from '../storage/sqlite/registry.ts';
import { entryOf } from '../storage/testing/entry.ts';
import { Administration } from './administration.ts';

const start = Date.parse('2026-01-01T00:00:00Z');

let directory: string;
let registry: SqliteRegistry;
let deleted: string[];
/** What cannot be deleted: records, files, or everything of one system. */
let failing: 'records' | 'files' | 'one' | null;
/** What processes that serve a system do when it is about to be removed. */
let closing: ((appId: string) => Promise<void>) | undefined;
let administration: Administration;

beforeEach(async () => {
  mock.timers.enable({ apis: ['Date'], now: start });
  directory = mkdtempSync(join(tmpdir(), 'rds-administration-'));
  registry = new SqliteRegistry(join(directory, 'registry.sqlite'));
  deleted = [];
  failing = null;
  closing = undefined;
  const remove = (what: 'records' | 'files') => async (appId: string) => {
    if (failing === what || failing === appId) throw new Error(`no ${what}`);
    await closing?.(appId);
    deleted.push(`${what} of ${appId}`);
  };
  administration = new Administration(
    registry,
    {
      remove: remove('records'),
      inspect: async () => ({ place: '', state: 'missing', identity: null }),
    } as unknown as Engine,
    async () => ({
      removeSystem: remove('files'),
      close: async () => {},
    }),
  );
  for (const appId of ['one', 'two']) await registry.addSystem(entryOf(appId), [], async () => undefined);
});
afterEach(async () => {
  mock.timers.reset();
  await registry.close();
  rmSync(directory, { recursive: true });
});

const inForce = () => administration.systems().map(({ appId }) => appId);
const overdue = () => administration.deleteOverdue(() => false);

test('a removed system is kept for 14 days, and deleted then', async () => {
  assert.equal(await administration.removeSystem('one'), start + 14 * DAY_MS);
  assert.deepEqual([inForce(), await overdue(), deleted], [['two'], [], []]);
  mock.timers.setTime(start + 14 * DAY_MS - 1);
  assert.deepEqual(await overdue(), []);
  mock.timers.setTime(start + 14 * DAY_MS);
  await assert.rejects(administration.restoreSystem('one'), /one is being deleted/);
  assert.deepEqual(await overdue(), ['one']);
  assert.deepEqual([deleted, administration.removedSystems()], [['records of one', 'files of one'], []]);
  await assert.rejects(administration.restoreSystem('one'), /there is no removed system one/);
});
test('a restored system is in force again and is not deleted', async () => {
  await administration.removeSystem('one');
  await administration.restoreSystem('one');
  mock.timers.setTime(start + 99 * DAY_MS);
  assert.deepEqual([inForce(), await overdue()], [['one', 'two'], []]);
  await assert.rejects(administration.restoreSystem('one'), /there is no removed system one/);
});
test('a system that is removed again is not kept longer', async () => {
  await administration.removeSystem('one');
  mock.timers.setTime(start + DAY_MS);
  await assert.rejects(administration.removeSystem('one'), /was removed: system restore one brings it back/);
  assert.equal(administration.removedSystems()[0]?.deleteAfter, start + 14 * DAY_MS);
});
for (const what of ['records', 'files'] as const)
  test(`a deletion that is cut off at the ${what} goes on, whatever the clock says then`, async () => {
    failing = what;
    await assert.rejects(administration.deleteSystem('one'), new RegExp(`no ${what}`));
    await assert.rejects(administration.restoreSystem('one'), /one is being deleted/);
    mock.timers.setTime(start - DAY_MS);
    await assert.rejects(administration.restoreSystem('one'), /one is being deleted/);
    failing = null;
    assert.deepEqual(await overdue(), ['one']);
    assert.deepEqual(deleted.slice(-2), ['records of one', 'files of one']);
    assert.deepEqual(inForce(), ['two']);
  });
test('what is deleted now was removed before or not, and is there', async () => {
  await administration.deleteSystem('one');
  await administration.removeSystem('two');
  await administration.deleteSystem('two');
  assert.deepEqual([inForce(), administration.removedSystems()], [[], []]);
  await assert.rejects(administration.deleteSystem('one'), /there is no system "one"/);
});
test('a system that cannot be deleted keeps no other from being deleted, and is reported', async () => {
  for (const appId of ['one', 'two']) await administration.removeSystem(appId);
  mock.timers.setTime(start + 14 * DAY_MS);
  failing = 'one';
  await assert.rejects(overdue(), /no records/);
  assert.deepEqual(deleted, ['records of two', 'files of two']);
  failing = null;
  assert.deepEqual(await overdue(), ['one']);
});
test('a store that a process is just closing is deleted once the registry has heard of it', async () => {
  let isTold = false;
  closing = async (appId) => {
    if (isTold) return;
    setTimeout(() => {
      isTold = true;
    }, 250);
    throw new UsedSinceRemoval(appId);
  };
  await administration.deleteSystem('one');
  assert.deepEqual([deleted, inForce()], [['records of one', 'files of one'], ['two']]);
});
test('two processes do not delete a system at a time', async () => {
  const other = new SqliteRegistry(join(directory, 'registry.sqlite'));
  try {
    await registry.removeSystem('one', 0);
    let inner: boolean | undefined;
    const outer = await registry.deleteSystem('one', start, async () => {
      inner = await other.deleteSystem('one', start, () => assert.fail('at the same time'));
    });
    assert.deepEqual([outer, inner], [true, false]);
  } finally {
    other.close();
  }
});
