import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { testDatabase } from '../testing/server.ts';
import { connectDatabase } from './connect-database.ts';
import type { Row } from './database.ts';
import { LockHolders } from './lock-holders.ts';

test('who holds a lock that others wait for is found; one query answers all who ask at a time', async () => {
  const place = await testDatabase();
  const database = await connectDatabase(place.url, { timeLimit: 10_000 });
  const clients = Array.from({ length: 3 }, () => new pg.Client({ connectionString: place.url }));
  await Promise.all(clients.map((client) => client.connect()));
  const [reader, writer, other] = clients as [pg.Client, pg.Client, pg.Client];
  const idOf = async (client: pg.Client): Promise<number> => (await client.query('SELECT pg_backend_pid() AS id')).rows[0].id;
  const ids = await Promise.all([reader, writer, other].map(idOf));
  let queries = 0;
  const holders = new LockHolders((statement) => {
    queries++;
    return database.short(statement);
  });
  const found = () => Promise.all(ids.map((id) => holders.has(id)));
  try {
    await reader.query('CREATE TABLE held (n int)');
    await reader.query('BEGIN; SELECT * FROM held');
    await other.query('BEGIN; SELECT 1');
    assert.deepEqual(await found(), [false, false, false]);
    const waiting = writer.query('ALTER TABLE held ADD COLUMN m int');
    await wait(150);
    assert.deepEqual(await found(), [true, false, false]);
    await reader.query('COMMIT');
    await waiting;
    await wait(150);
    assert.deepEqual(await found(), [false, false, false]);
    assert.equal(queries, 3);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
    await database.close();
    await place.drop();
  }
});

test('while a query is under way no other is sent; its answer is new when it comes', async () => {
  let queries = 0;
  let answer: (rows: Row[]) => void = () => assert.fail();
  let fail: (error: Error) => void = assert.fail;
  const holders = new LockHolders(() => {
    queries++;
    return new Promise<Row[]>((resolve, reject) => {
      answer = resolve;
      fail = reject;
    });
  });
  const first = holders.has(1);
  await wait(150);
  const second = holders.has(2);
  assert.equal(queries, 1);
  answer([[2]]);
  assert.deepEqual(await Promise.all([first, second, holders.has(2)]), [false, true, true]);
  assert.equal(queries, 1);
  await wait(150);
  const failing = [holders.has(1), holders.has(2)];
  fail(new Error('away'));
  for (const each of failing) await assert.rejects(each, { message: 'away' });
  const later = holders.has(1);
  assert.equal(queries, 3);
  answer([[1]]);
  assert.equal(await later, true);
});
