import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { MINUTE_MS } from '../../kernel/time.ts';
import * as records from '../../records/index.ts';
import { tableOf } from '../../schema/model.ts';
import { columnFields, snapshotValues } from '../../storage/column-values.ts';
import type { Store } from '../../storage/port.ts';
import { type StoreProcess, twoProcesses } from '../../storage/postgres/testing/store-process.ts';
import { expand, runDue } from './index.ts';
import { addThings, change, define, makeTables, queued, runsOf, thing, timesOf } from './testing/tables.ts';

const noon = Date.UTC(2026, 5, 1, 12);

describe('schedules of two processes on PostgreSQL', () => {
  let a: StoreProcess<unknown>;
  let b: StoreProcess<unknown>;
  let close: (() => Promise<void>) | undefined;
  const system = (store: Store) => ({ appId: 'app', name: 'System', store });

  before(async () => {
    ({ a, b, close } = await twoProcesses(records));
    await makeTables(a.store);
    await b.follow();
  });
  after(() => close?.());

  test('each run that is due is queued by one of them', async () => {
    const ids = Array.from({ length: 12 }, (_, n) => `trigger${String(n).padStart(3, '0')}`);
    for (const id of ids) await define(a.store, id, { nextRun: noon });
    for (let round = 0; round < 5; round++) {
      const now = noon + round * MINUTE_MS;
      const next = await Promise.all([a, b, a, b].map(({ store }) => runDue(system(store), now)));
      assert.deepEqual(
        next,
        next.map(() => now + MINUTE_MS),
      );
      const jobs = await runsOf(b.store);
      assert.deepEqual(jobs.flatMap(({ triggers }) => triggers).toSorted(), ids);
      for (const id of ids) assert.equal((await timesOf(a.store, id)).nextRun, now + MINUTE_MS);
      const storeOf = new Map([a, b].map(({ store }) => [store.cluster.processId, store]));
      await Promise.all(
        jobs.map((job) => {
          const store = storeOf.get(job.owner);
          assert.ok(store);
          return expand(system(store), job);
        }),
      );
      assert.deepEqual(await runsOf(a.store), []);
    }
    for (const id of ids) await a.remove('_Trigger', id);
  });

  test('a run that changes hands in between queues each record once, with its snapshot', async () => {
    await addThings(a.store, 1_100);
    await define(a.store, 'trigger900', { nextRun: noon });
    await runDue(system(a.store), noon);
    const [job] = await runsOf(a.store);
    assert.ok(job);
    await Promise.all([
      expand(system(a.store), job),
      (async () => {
        for (const end = Date.now() + 10_000; (await queued(b.store, 'write')).length === 0 && Date.now() < end; ) await wait(1);
        await change(b.store, '_TriggerQueue', job.id, { owner: b.store.cluster.processId }).catch(() => {});
      })(),
    ]);
    for (const taken of await runsOf(b.store)) await expand(system(b.store), taken);
    const rows = await queued(b.store, 'write');
    assert.deepEqual(
      rows.map(({ objectIdValue }) => objectIdValue).toSorted(),
      Array.from({ length: 1_000 }, (_, n) => thing(n)),
    );
    const fields = columnFields(tableOf(b.store.schema(), 'Things'));
    assert.equal(rows[0]?.fields, JSON.stringify(fields.map(({ name }) => name)));
    const values = snapshotValues(rows[0]?.record as string, fields);
    assert.deepEqual([values[0], values.at(-2), values.at(-1)], [rows[0]?.objectIdValue, 'a thing', 0]);
    assert.equal((await timesOf(a.store, 'trigger900')).cursor, thing(999));
  });
});
