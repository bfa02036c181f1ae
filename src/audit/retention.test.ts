import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { newObjectId } from '../kernel/ids.ts';
import { DAY_MS } from '../kernel/time.ts';
import { readRows } from '../records/index.ts';
import { planTable } from '../schema/definition.ts';
import { fieldOf, tableOf } from '../schema/model.ts';
import { assignmentsOf, columnsOf } from '../storage/column-values.ts';
import type { Mutation } from '../storage/port.ts';
import { rowContext } from '../storage/sql/testing/addresses.ts';
import { ReaderPool } from '../storage/sqlite/reads/reader-pool.ts';
import { SqliteStore } from '../storage/sqlite/store.ts';
import { deleteOld, type RetentionDays } from './retention.ts';

const now = Date.UTC(2026, 5, 1);
const directory = mkdtempSync(join(tmpdir(), 'rds-retention-'));
let pool: ReaderPool;
let store: SqliteStore;
before(() => {
  pool = new ReaderPool(10_000, assert.fail);
});
beforeEach(async () => {
  await store?.close();
  store = new SqliteStore(join(directory, `${newObjectId()}.sqlite`), { pool, report: assert.fail, ...rowContext });
  const tables = {
    _RequestLog: { path: { type: 'String' } },
    _syslogTriggers: {},
    _Timeline: { Last: { type: 'Boolean' } },
    _AdminLog: {},
    _IdempotencyKey: {},
    _Session: { expiresAt: { type: 'Date' } },
    Others: {},
  };
  for (const [name, fields] of Object.entries(tables))
    await store.write({ plan: (schema) => ({ changes: planTable(schema, name, { fields }, () => {}), mutations: [] }) });
});
after(async () => {
  await store.close();
  await pool.close();
  rmSync(directory, { recursive: true });
});

/** Retention with all tables kept for ever except the given ones. */
const keeping = (days: Partial<RetentionDays>): RetentionDays => ({
  requestLogDays: 0,
  triggerLogDays: 0,
  timelineDays: 0,
  adminLogDays: 0,
  ...days,
});
const never = () => false;

/** Adds a record for each time: its time of creation, for a session its expiry. */
async function add(className: string, times: readonly number[]): Promise<void> {
  await store.write({
    plan: (schema) => {
      const table = schema.tables.get(className);
      assert.ok(table);
      const mutations = times.map((at): Mutation => {
        const times = { createdAt: at, updatedAt: at, ...(className === '_Session' ? { expiresAt: at } : {}) };
        return { kind: 'insert', table, values: columnsOf(table, { objectId: newObjectId(), ...times }) };
      });
      return { changes: [], mutations };
    },
  });
}

/** Returns the remaining creation times, sorted. */
async function left(className: string): Promise<number[]> {
  const fields = ['createdAt'];
  const rows = await readRows<{ createdAt: string }>(store, { className, fields, filter: () => ({ kind: 'always' }) });
  return rows.map(({ createdAt }) => Date.parse(createdAt)).sort((a, b) => a - b);
}

test('rows older than the days go, in whatever order they came, and others stay', async () => {
  const kept = [now - 30 * DAY_MS, now - DAY_MS, now, now + DAY_MS];
  await add('_RequestLog', [kept[0] as number, now - 31 * DAY_MS, ...kept.slice(1), now - 30 * DAY_MS - 1]);
  await add('Others', [0]);
  await deleteOld(store, keeping({ requestLogDays: 30 }), now, never);
  assert.deepEqual(await left('_RequestLog'), kept);
  assert.deepEqual(await left('Others'), [0]);
});

test('0 days keep rows for ever; sessions that have expired go all the same', async () => {
  await add('_RequestLog', [0]);
  await add('_syslogTriggers', [0]);
  await add('_Timeline', [0]);
  await add('_Session', [now - 1, now + 1]);
  await deleteOld(store, keeping({}), now, never);
  for (const className of ['_RequestLog', '_syslogTriggers', '_Timeline']) assert.deepEqual(await left(className), [0]);
  assert.deepEqual(await left('_Session'), [now + 1]);
});

test('a session that is used while those that have expired go stays', async () => {
  await add('_Session', [now - 2, now - 1]);
  const write = store.write.bind(store);
  store.write = async (prepared) => {
    await write({
      plan(schema) {
        const table = tableOf(schema, '_Session');
        const filter = { kind: 'compare', field: fieldOf(table, 'createdAt'), op: 'eq', value: now - 1 } as const;
        const assignments = assignmentsOf(table, { expiresAt: now + DAY_MS });
        return { changes: [], mutations: [{ kind: 'updateAll', table, filter, assignments }] };
      },
    });
    return write(prepared);
  };
  await deleteOld(store, keeping({}), now, never);
  assert.deepEqual(await left('_Session'), [now - 1]);
});

test('each log has its own days', async () => {
  const logs = ['_RequestLog', '_syslogTriggers', '_Timeline'];
  for (const className of logs) await add(className, [now - 5 * DAY_MS, now - 3 * DAY_MS, now - DAY_MS]);
  await add('_AdminLog', [now - 2 * DAY_MS, now - DAY_MS, now]);
  await deleteOld(store, { requestLogDays: 2, triggerLogDays: 4, timelineDays: 6, adminLogDays: 1 }, now, never);
  assert.deepEqual(await Promise.all(logs.map(left)), [
    [now - DAY_MS],
    [now - 3 * DAY_MS, now - DAY_MS],
    [now - 5 * DAY_MS, now - 3 * DAY_MS, now - DAY_MS],
  ]);
  assert.deepEqual(await left('_AdminLog'), [now - DAY_MS, now]);
});

test('keys of repeated requests go after a day, whatever the settings', async () => {
  await add('_IdempotencyKey', [now - 2 * DAY_MS, now - DAY_MS - 1, now - DAY_MS, now]);
  await deleteOld(store, keeping({}), now, never);
  assert.deepEqual(await left('_IdempotencyKey'), [now - DAY_MS, now]);
});

test('the newest row of a record stays the last one', async () => {
  const write = (objectId: string, createdAt: number, Last: boolean) =>
    store.write({
      plan(schema) {
        const table = tableOf(schema, '_Timeline');
        return {
          changes: [],
          mutations: [{ kind: 'insert', table, values: columnsOf(table, { objectId, createdAt, updatedAt: createdAt, Last }) }],
        };
      },
    });
  await write('old', now - 3 * DAY_MS, false);
  await write('new', now - DAY_MS, true);
  await deleteOld(store, keeping({ timelineDays: 2 }), now, never);
  const rows = await readRows(store, {
    className: '_Timeline',
    fields: ['objectId', 'Last'],
    filter: () => ({ kind: 'always' }),
  });
  assert.deepEqual(rows, [{ objectId: 'new', Last: true }]);
});

test('a log of which nothing is old is read once, a few rows of it; young rows at its beginning hold up no others', async () => {
  const queries: number[] = [];
  const find = store.reader.find.bind(store.reader);
  store.reader.find = (query) => {
    if (query.table.className === '_Timeline') queries.push(query.limit);
    return find(query);
  };
  await add('_Timeline', [now, ...Array.from({ length: 1_500 }, () => now)]);
  await deleteOld(store, keeping({ timelineDays: 1 }), now, never);
  assert.deepEqual(queries, [500]);
  await add('_syslogTriggers', [now, now, ...Array.from({ length: 1_200 }, (_, n) => n), now]);
  await deleteOld(store, keeping({ triggerLogDays: 1 }), now, never);
  assert.deepEqual(await left('_syslogTriggers'), [now, now, now]);
});

test('many rows go in several commits, the first of which is small: rows may be long', async () => {
  await add('_RequestLog', [...Array.from({ length: 1_200 }, (_, n) => n), now]);
  const deleted: number[] = [];
  const write = store.write.bind(store);
  store.write = (prepared) => {
    const [mutation] = prepared.plan(store.schema()).mutations;
    if (mutation?.kind === 'deleteAll' && mutation.filter.kind === 'in') deleted.push(mutation.filter.values.length);
    return write(prepared);
  };
  await deleteOld(store, keeping({ requestLogDays: 1 }), now, never);
  assert.equal(
    deleted.reduce((sum, rows) => sum + rows, 0),
    1_200,
  );
  assert.ok((deleted[0] as number) <= 20 && Math.max(...deleted) <= 500, String(deleted));
  assert.deepEqual(await left('_RequestLog'), [now]);
});

test('a system without these tables is passed over, and an end in between is heeded', async () => {
  const bare = new SqliteStore(join(directory, 'bare.sqlite'), { pool, report: assert.fail, ...rowContext });
  await deleteOld(bare, keeping({ requestLogDays: 1 }), now, never);
  await bare.close();
  await add('_RequestLog', [0]);
  await deleteOld(store, keeping({ requestLogDays: 1 }), now, () => true);
  assert.deepEqual(await left('_RequestLog'), [0]);
});
