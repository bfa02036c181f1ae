import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceError } from '../../errors/fail.ts';
import { connectDatabase } from './connection/index.ts';
import { Notices } from './notices.ts';
import { PostgresRegistry } from './registry.ts';
import { query, testDatabase } from './testing/server.ts';

test('a change that was done is told as done, though what it made could not be looked at', async (t) => {
  const place = await testDatabase();
  const database = await connectDatabase(place.url, { timeLimit: 5_000 });
  try {
    const registry = await PostgresRegistry.open(database, new Notices());
    const atomically = t.mock.method(database, 'atomically', async () => {
      throw serviceError('outcomeUnknown');
    });
    const system = { id: 'id', appId: 'one', name: 'One', createdAt: 1, masterKeyHash: 'hash' };
    assert.equal(await registry.addSystem(system, [], async () => undefined), true);
    const key = { appId: 'one', name: 'key', hash: 'other', createdAt: 2 };
    assert.equal(await registry.addKey(key), true);
    await assert.rejects(async () => registry.whenCurrent(), { key: 'unavailable' });
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
    const registry = await PostgresRegistry.open(database, new Notices());
    const system = { id: 'id', appId: 'one', name: 'One', createdAt: 1, masterKeyHash: 'hash' };
    await registry.addSystem(system, [], async () => undefined);
    await query(place.url, 'DELETE FROM rds.installation');
    await assert.rejects(PostgresRegistry.open(database, new Notices()), /the schema rds is damaged: it has lost its salt/);
  } finally {
    await database.close();
    await place.drop();
  }
});
