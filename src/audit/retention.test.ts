import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { newObjectId } from '../kernel/ids.ts';
import { readRows } from '../records/index.ts';
import { planTable } from '../schema/definition.ts';
import { columnsOf } from '../storage/columns.ts';
import type { Mutation } from '../storage/port.ts';
import { rowContext } from '../storage/sql/testing/addresses.ts';
import { ReaderPool } from '../storage/sqlite/reads/pool.ts';
import { SqliteStore } from '../storage/sqlite/store.ts';
import { deleteOld } from './retention.ts';

const DAY = 86_400_000;
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
  const tables = { _RequestLog: { path: { type: 'String' } }, _Session: { expiresAt: { type: 'Date' } }, Others: {} };
  for (const [name, fields] of Object.entries(tables))
    await store.write({ plan: (schema) => ({ changes: planTable(schema, name, { fields }, () => {}), mutations: [] }) });
});
after(async () => {
  await store.close();
  await pool.close();
  rmSync(directory, { recursive: true });
});

/** Adds a record for each time; a session's is that of its end. */
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

/** The times of creation that are left, sorted. */
async function left(className: string): Promise<number[]> {
  const fields = ['createdAt'];
  const rows = await readRows<{ createdAt: string }>(store, { className, fields, filter: () => ({ kind: 'always' }) });
  return rows.map(({ createdAt }) => Date.parse(createdAt)).sort((a, b) => a - b);
}

test('rows older than the days go, in whatever order they came, and others stay', async () => {
  const kept = [now - 30 * DAY, now - DAY, now, now + DAY];
  await add('_RequestLog', [kept[0] as number, now - 31 * DAY, ...kept.slice(1), now - 30 * DAY - 1]);
  await add('Others', [0]);
  await deleteOld(store, 30, now, () => false);
  assert.deepEqual(await left('_RequestLog'), kept);
  assert.deepEqual(await left('Others'), [0]);
});

test('0 days keep rows for ever; sessions that have expired go all the same', async () => {
  await add('_RequestLog', [0]);
  await add('_Session', [now - 1, now + 1]);
  await deleteOld(store, 0, now, () => false);
  assert.deepEqual(await left('_RequestLog'), [0]);
  assert.deepEqual(await left('_Session'), [now + 1]);
});

test('many rows go in commits of 500', async () => {
  await add('_RequestLog', [...Array.from({ length: 1_200 }, (_, n) => n), now]);
  const deleted: number[] = [];
  const write = store.write.bind(store);
  store.write = (prepared) => {
    const [mutation] = prepared.plan(store.schema()).mutations;
    if (mutation?.kind === 'deleteAll' && mutation.filter.kind === 'in') deleted.push(mutation.filter.values.length);
    return write(prepared);
  };
  await deleteOld(store, 1, now, () => false);
  assert.deepEqual(deleted, [500, 500, 200]);
  assert.deepEqual(await left('_RequestLog'), [now]);
});

test('a system without these tables is passed over, and an end in between is heeded', async () => {
  const bare = new SqliteStore(join(directory, 'bare.sqlite'), { pool, report: assert.fail, ...rowContext });
  await deleteOld(bare, 1, now, () => false);
  await bare.close();
  await add('_RequestLog', [0]);
  await deleteOld(store, 1, now, () => true);
  assert.deepEqual(await left('_RequestLog'), [0]);
});
