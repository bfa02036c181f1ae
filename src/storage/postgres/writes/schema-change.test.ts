import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createRecord, updateSchema } from '../../../records/index.ts';
import { masterContext } from '../../../records/testing/context.ts';
import { rowContext } from '../../sql/testing/addresses.ts';
import { PostgresCluster } from '../cluster/cluster.ts';
import { InvalidationBus } from '../cluster/invalidation.ts';
import { Liveness } from '../cluster/liveness.ts';
import { connectDatabase } from '../connection/connect-database.ts';
import type { Database } from '../connection/database.ts';
import { PostgresStore } from '../store.ts';
import { type TestDatabase, testDatabase } from '../testing/server.ts';

let place: TestDatabase;
let database: Database;
let settings: Parameters<typeof PostgresStore.open>[0];
let store: PostgresStore;
let other: pg.Client;
before(async () => {
  place = await testDatabase();
  const report = () => {};
  database = await connectDatabase(place.url, { timeLimit: 10_000 });
  settings = {
    database,
    schemaName: 'rds_test',
    invalidations: new InvalidationBus(),
    cluster: new PostgresCluster(database, new Liveness()),
    report,
    ...rowContext,
  };
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
  // Sequentially, because writes of one turn wait for each other.
  const growing: Promise<unknown>[] = [];
  growing.push(createRecord(context(), 'Read', { a: 1 }).then(() => grown.push('Read')));
  await wait(10);
  growing.push(updateSchema(context(), 'Read', { indexes: { byN: { n: 1 } } }));
  await wait(10);
  growing.push(createRecord(context(), 'Free', { a: 1 }).then(() => grown.push('Free')));
  await wait(10);
  await createRecord(context(), 'Free', { n: 2 });
  assert.deepEqual(grown, []);
  // Longer than the lock timeout of a schema change.
  await wait(500);
  await other.query('COMMIT');
  await Promise.all(growing);
  assert.deepEqual(grown.sort(), ['Free', 'Read']);
});

/** Returns the store as another process has it; `what` runs before each of its first `times` transactions is sent. */
async function meeting(t: TestContext, times: number, what: (n: number) => Promise<void>): Promise<PostgresStore> {
  const own = await connectDatabase(place.url, { timeLimit: 10_000 });
  const slow = await PostgresStore.open({ ...settings, database: own }, false);
  t.after(async () => {
    await slow.close();
    await own.close();
  });
  const send = own.atomically.bind(own);
  let n = 0;
  t.mock.method(own, 'atomically', async (...args: Parameters<Database['atomically']>) => {
    if (n < times) await what(n++);
    return send(...args);
  });
  return slow;
}

test('a write is planned again as often as others change the schema before it', async (t) => {
  await createRecord(context(), 'Moving', { n: 1 });
  const slow = await meeting(t, 40, async (n) => {
    await createRecord(context(), 'Moving', { [`f${n}`]: 1 });
  });
  const writes = Array.from({ length: 3 }, (_, n) => createRecord(masterContext(slow), 'Moving', { n }));
  await Promise.all(writes);
  assert.equal(store.schema().tables.get('Moving')?.fields.has('f39'), true);
});

test('a transaction is run again as often as others are in its way', async (t) => {
  await createRecord(context(), 'Crossed', { n: 1 });
  t.mock.method(Math, 'random', () => 0);
  const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01', severity: 'ERROR' });
  let crossed = 0;
  const slow = await meeting(t, 40, async () => {
    crossed++;
    throw deadlock;
  });
  await createRecord(masterContext(slow), 'Crossed', { n: 2 });
  assert.equal(crossed, 40);
});
