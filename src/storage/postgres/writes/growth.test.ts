import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createRecord, updateSchema } from '../../../records/index.ts';
import { masterContext } from '../../../records/testing/context.ts';
import { rowContext } from '../../sql/testing/addresses.ts';
import { connectDatabase, type Database } from '../connection/index.ts';
import { Notices } from '../notices.ts';
import { Presence } from '../presence.ts';
import { PostgresStore } from '../store.ts';
import { type TestDatabase, testDatabase } from '../testing/server.ts';

let place: TestDatabase;
let database: Database;
let store: PostgresStore;
let other: pg.Client;
before(async () => {
  place = await testDatabase();
  const report = () => {};
  database = await connectDatabase(place.url, { timeLimit: 10_000 });
  const settings = { database, schemaName: 'rds_test', notices: new Notices(), presence: new Presence(), report, ...rowContext };
  store = await PostgresStore.open(settings, true);
  other = new pg.Client({ connectionString: place.url });
  await other.connect();
});
after(async () => {
  await store?.close();
  await database?.close();
  await other?.end();
  await place?.drop();
});

const context = () => masterContext(store);

test('changes of a schema wait for who reads the table, and writes to other tables do not wait for them', async () => {
  await Promise.all(['Read', 'Free'].map((table) => createRecord(context(), table, { n: 1 })));
  await other.query('BEGIN');
  await other.query('SELECT count(*) FROM rds_test."t_Read"');
  const grown: unknown[] = [];
  // One after the other: writes of one turn wait for each other.
  const growing: Promise<unknown>[] = [];
  growing.push(createRecord(context(), 'Read', { a: 1 }).then(() => grown.push('Read')));
  await wait(10);
  growing.push(updateSchema(context(), 'Read', { indexes: { byN: { n: 1 } } }));
  await wait(10);
  growing.push(createRecord(context(), 'Free', { a: 1 }).then(() => grown.push('Free')));
  await wait(10);
  await createRecord(context(), 'Free', { n: 2 });
  assert.deepEqual(grown, []);
  // Longer than a change waits for a lock at a time.
  await wait(500);
  await other.query('COMMIT');
  await Promise.all(growing);
  assert.deepEqual(grown.sort(), ['Free', 'Read']);
});
