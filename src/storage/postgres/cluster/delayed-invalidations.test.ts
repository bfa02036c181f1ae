import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createRecord } from '../../../records/index.ts';
import { masterContext } from '../../../records/testing/context.ts';
import type { Store } from '../../port.ts';
import { addressesOf } from '../../sql/testing/addresses.ts';
import { openAnyway } from '../../testing/open.ts';
import { PostgresEngine } from '../engine.ts';
import { type TestDatabase, testDatabase } from '../testing/server.ts';
import { DelayedInvalidations } from './delayed-invalidations.ts';

let database: TestDatabase;
let engine: PostgresEngine;
let store: Store;
let listener: pg.Client;
const received: string[] = [];

before(async () => {
  database = await testDatabase();
  engine = await PostgresEngine.connect(database.url, { timeLimit: 10_000, connections: 6, report: assert.fail, addressesOf });
  store = await openAnyway(engine, 'app');
  listener = new pg.Client({ connectionString: database.url });
  await listener.connect();
  listener.on('notification', ({ payload = '' }) => received.push(payload));
  await listener.query('LISTEN rds');
});

after(async () => {
  await listener.end();
  await store.close();
  await engine.close();
  await database.drop();
});

test('other processes hear of writes to any table that is not hidden, once for many', async () => {
  const master = masterContext(store);
  for (let at = 0; at < 5; at++) await createRecord(master, 'Gadgets', { at });
  for (let left = 100; left > 0 && !received.some((text) => text.includes('"t":["Gadgets"]')); left--) await wait(50);
  const notices = received.filter((text) => text.includes('"c":false') && text.includes('Gadgets'));
  assert.ok(notices.length >= 1 && notices.length < 5, received.join('\n'));
});

test('what commits tell of by themselves, and what nobody may see, is left out; a notice stays within its size', async () => {
  const sent: (readonly string[])[] = [];
  const notices = new DelayedInvalidations(async (tables) => void sent.push(tables));
  notices.add(['_Role', '_Session', '_TriggerQueue']);
  notices.flush();
  assert.deepEqual(sent, []);
  notices.add(Array.from({ length: 90 }, (_, at) => `T${at}`));
  notices.flush();
  assert.deepEqual(
    sent.map(({ length }) => length),
    [40, 40, 10],
  );
});

test('a write in doubt is announced with its watched tables, again and again until that is sent', async () => {
  const sent: (readonly string[])[] = [];
  let isBroken = true;
  const notices = new DelayedInvalidations(async (tables) => {
    sent.push(tables);
    if (isBroken) throw new Error('away');
  });
  notices.add(['_Role', 'Gadgets', '_TriggerQueue'], true);
  notices.flush();
  await wait(1);
  assert.deepEqual(sent, [['_Role'], ['Gadgets']]);
  isBroken = false;
  notices.flush();
  await wait(1);
  notices.flush();
  assert.deepEqual(sent, [['_Role'], ['Gadgets'], ['_Role']]);
});

test('a notice that does not go out is no error', async () => {
  const notices = new DelayedInvalidations(() => Promise.reject(new Error('away')));
  notices.add(['T']);
  notices.flush();
  await wait(1);
});
