import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { serviceError } from '../../errors/fail.ts';
import { entryOf } from '../testing/entry.ts';
import { InvalidationBus } from './cluster/invalidation.ts';
import { connectDatabase } from './connection/connect-database.ts';
import { PostgresRegistry } from './registry.ts';
import { query, testDatabase } from './testing/server.ts';

test('a change that was done is answered as done, though what it made could not be looked at', async (t) => {
  const place = await testDatabase();
  const database = await connectDatabase(place.url, { timeLimit: 5_000 });
  try {
    const registry = await PostgresRegistry.open(database, new InvalidationBus());
    const atomically = t.mock.method(database, 'atomically', async () => {
      throw serviceError('outcomeUnknown');
    });
    const system = entryOf('one');
    assert.equal(await registry.addSystem(system, [], async () => undefined), true);
    const key = { appId: 'one', name: 'key', hash: 'other', createdAt: 2 };
    assert.equal(await registry.addKey(key), true);
    await assert.rejects(registry.whenCurrent(), { key: 'unavailable' });
    assert.equal(registry.isCurrent(), false);
    atomically.mock.restore();
    await registry.whenCurrent();
    assert.deepEqual(registry.read(), { systems: [system], removed: [], keys: [key] });
  } finally {
    await database.close();
    await place.drop();
  }
});

test('a registry that has systems and has lost its salt is refused: it would make their keys worth nothing', async () => {
  const place = await testDatabase();
  const database = await connectDatabase(place.url, { timeLimit: 5_000 });
  try {
    const registry = await PostgresRegistry.open(database, new InvalidationBus());
    const system = entryOf('one');
    await registry.addSystem(system, [], async () => undefined);
    await query(place.url, 'DELETE FROM rds.installation');
    await assert.rejects(
      PostgresRegistry.open(database, new InvalidationBus()),
      /the schema rds is damaged: it has lost its salt/,
    );
  } finally {
    await database.close();
    await place.drop();
  }
});

test('while a system is deleted, who closes its store notes its last generation, and nobody else deletes it', async () => {
  const place = await testDatabase();
  const databases = await Promise.all([0, 1].map(() => connectDatabase(place.url, { timeLimit: 5_000 })));
  const open = (database: (typeof databases)[number]) => PostgresRegistry.open(database, new InvalidationBus());
  try {
    const [mine, other] = (await Promise.all(databases.map(open))) as [PostgresRegistry, PostgresRegistry];
    for (const appId of ['one', 'two']) await mine.addSystem(entryOf(appId), [], async () => undefined);
    await mine.removeSystem('one', 0);
    const done = await mine.deleteSystem('one', 1, async () => {
      const noted = other.recordStore('one', { generation: 7 }).then(() => 'noted');
      assert.equal(await Promise.race([noted, wait(2_000, 'kept waiting', { ref: false })]), 'noted');
      assert.equal((await mine.storeOf('one'))?.generation, 7);
      assert.equal(await other.deleteSystem('one', 1, () => assert.fail('at the same time')), false);
    });
    assert.deepEqual([done, await other.storeOf('one'), (await other.storeOf('two'))?.appId], [true, null, 'two']);
    await mine.removeSystem('two', 0);
    const cutOff = mine.deleteSystem('two', 1, () => Promise.reject(new Error('cut off')));
    await assert.rejects(cutOff, /cut off/);
    assert.equal(await other.deleteSystem('two', 1, async () => {}), true);
  } finally {
    await Promise.all(databases.map((database) => database.close()));
    await place.drop();
  }
});
