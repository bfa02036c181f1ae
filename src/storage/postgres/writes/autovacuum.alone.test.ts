import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createRecord, updateSchema } from '../../../records/index.ts';
import { masterContext } from '../../../records/testing/context.ts';
import { rowContext } from '../../sql/testing/addresses.ts';
import { PostgresCluster } from '../cluster/cluster.ts';
import { InvalidationBus } from '../cluster/invalidation.ts';
import { Liveness } from '../cluster/liveness.ts';
import { connectDatabase } from '../connection/connect-database.ts';
import type { Database } from '../connection/database.ts';
import { PostgresStore } from '../store.ts';
import { type TestDatabase, type TestServer, testServer } from '../testing/server.ts';
import { Autovacuums } from './autovacuum.ts';

/** Makes autovacuum start as soon as rows were written, and take minutes. */
const slowAutovacuum = {
  autovacuum_naptime: '1s',
  autovacuum_vacuum_threshold: 10,
  autovacuum_vacuum_scale_factor: 0,
  autovacuum_vacuum_cost_delay: '100ms',
  autovacuum_vacuum_cost_limit: 1,
};

let server: TestServer;
let place: TestDatabase;
let database: Database;
let store: PostgresStore;
before(async () => {
  server = await testServer(slowAutovacuum);
  place = await server.database();
  database = await connectDatabase(place.url, { timeLimit: 10_000 });
  const shared = {
    database,
    invalidations: new InvalidationBus(),
    cluster: new PostgresCluster(database, new Liveness()),
    report: () => {},
  };
  store = await PostgresStore.open({ ...shared, schemaName: 'rds_test', ...rowContext }, true);
});
after(async () => {
  await store?.close();
  await database?.close();
  await server?.close();
});

const isVacuumed = async (): Promise<boolean> => {
  const locks = `SELECT 1 FROM pg_locks WHERE relation = 'rds_test."t_Big"'::regclass AND mode = 'ShareUpdateExclusiveLock'`;
  return (await server.query(locks, place)).length > 0;
};

/** Writes to the table and waits until an autovacuum of the table starts. */
const vacuumed = async () => {
  await server.query('UPDATE rds_test."t_Big" SET n = n + 1', place);
  for (let n = 0; n < 300 && !(await isVacuumed()); n++) await wait(100);
  assert.ok(await isVacuumed(), 'an autovacuum has the table');
};

test('an autovacuum gives way to changes of the schema, as it does to any other lock on its table', async () => {
  const context = masterContext(store);
  for (let n = 0; n < 20; n++)
    await Promise.all(Array.from({ length: 100 }, (_, m) => createRecord(context, 'Big', { n: m, s: 'x'.repeat(1_000) })));
  await vacuumed();
  // Writes are not affected.
  await createRecord(context, 'Big', { n: 1 });
  assert.ok(await isVacuumed());
  await createRecord(context, 'Big', { added: 1 });
  await wait(5_000);
  await vacuumed();
  await updateSchema(context, 'Big', { fields: { added: { __op: 'Delete' } } });
  assert.deepEqual(store.schema().tables.get('Big')?.fields.has('added'), false);
});

test('a change waits so long for tables of its own alone, and not each time', async () => {
  const rows = [['t_Big', 1_000]];
  const autovacuums = new Autovacuums(async () => rows, 'rds_test', false);
  assert.equal(await autovacuums.waitFor(['table "t_Other"']), 0);
  assert.equal(await autovacuums.waitFor(['table "t_Big"']), 1_500);
  assert.equal(await autovacuums.waitFor(['table "t_Big"']), 0);
  const late = new Autovacuums(async () => [['t_Big', 60_000]], 'rds_test', false);
  assert.equal(await late.waitFor(['table "t_Big"']), 0);
  const away = new Autovacuums(() => Promise.reject(new Error('away')), 'rds_test', false);
  assert.equal(await away.waitFor(['table "t_Big"']), 0);
});

test('a coordinator does not see what a node vacuums: any table may be it', async () => {
  const asked: string[] = [];
  const query = async ({ text }: { readonly text: string }) => {
    asked.push(text);
    return [[null, 1_000]];
  };
  const autovacuums = new Autovacuums(query, 'rds_test', true);
  assert.equal(await autovacuums.waitFor(['table "t_Big"']), 1_500);
  assert.equal(await autovacuums.waitFor(['table "t_Big"']), 0);
  assert.ok(asked.every((text) => !text.includes('pg_locks')));
});

test('what gives way to nobody is waited for less and less often, until one gave way', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const autovacuums = new Autovacuums(async () => [['t_Big', 1_000]], 'rds_test', false);
  const waits = async () => {
    const found: number[] = [];
    for (const untilMs = nowMs + 300_000; nowMs < untilMs; nowMs += 1_000)
      if ((await autovacuums.waitFor(['table "t_Big"'])) > 0) found.push(nowMs);
    return found.map((at) => at / 1_000);
  };
  assert.deepEqual(await waits(), [0, 5, 15, 35, 75, 135, 195, 255]);
  nowMs = 1_000_000;
  assert.equal(await autovacuums.waitFor(['table "t_Big"']), 1_500);
  autovacuums.onLockAcquired();
  nowMs = 2_000_000;
  assert.deepEqual((await waits()).slice(0, 3), [2_000, 2_005, 2_015]);
});
