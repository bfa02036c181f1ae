/** One of two processes is killed in the middle of its writes: the other goes on, and no acknowledged write is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { byKey } from '../mcp/tools/callers.ts';
import { dataForTest } from '../support/data.ts';
import { storeOf } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { soon } from '../support/soon.ts';
import { CYCLES, prepare, verify } from './check.ts';
import { CounterModel, RecordModel } from './model.ts';
import { counterPath, writeUntilGone } from './writers.ts';

if (engines.includes('postgres'))
  test('a process is killed in the middle of writes: the other is not held up and nothing is lost', {
    timeout: 120_000,
  }, async (t) => {
    const { database } = await dataForTest('postgres');
    assert.ok(database);
    const [records, counter] = [new RecordModel(), new CounterModel()];
    const staying = await startServiceProcess({ database });
    let over = false;
    let acknowledged = 0;
    const going = async () => {
      while (!over) {
        const since = performance.now();
        const by = { __op: 'Increment', amount: 1 };
        counter.began(1);
        const answer = await staying.call('PUT', counterPath, { body: { n: by, m: by } });
        assert.equal(answer.status, 200, answer.text);
        counter.confirmed(1);
        assert.ok(performance.now() - since < 5_000, 'it was held up');
      }
    };
    try {
      await prepare(staying);
      const goingOn = Promise.all([going(), going()]);
      goingOn.catch(() => {});
      for (let cycle = 1; cycle <= CYCLES; cycle++) {
        const killed = await startServiceProcess({ database });
        const writers = Array.from({ length: 6 }, (_, n) => writeUntilGone(killed, `k${cycle}-${n}`, records, counter));
        const all = Promise.all(writers);
        await Promise.all([records.confirms(20), wait(100 + Math.random() * 300)]);
        await killed.kill();
        acknowledged = (await all).reduce((sum, count) => sum + count, acknowledged);
      }
      over = true;
      await goingOn;
      t.diagnostic(`${acknowledged} acknowledged writes over ${CYCLES} kills`);
      assert.ok(acknowledged > 50, 'the test tested nothing');
      // Statements that were sent may still run in the database.
      await wait(500);
      await verify(staying, records, counter, CYCLES);
    } finally {
      over = true;
      await staying.stop();
    }
  });

if (engines.includes('postgres'))
  test('a process is killed while it decides under the keys of another: that one goes on at once, and nothing is twice', {
    timeout: 120_000,
  }, async () => {
    const { database } = await dataForTest('postgres');
    assert.ok(database);
    const staying = storeOf(() => service);
    const service = await startServiceProcess({ database });
    let over = false;
    try {
      const table = await staying.table({ k: 'String' });
      const accountId = await staying.create('Accounts', { Name: 'Buyer' });
      const order = { accountId, rows: [{ description: 'Chair', quantity: 1, price: 10 }] };
      const upsert = (n: number) => ({ table, matchOn: ['k'], data: { k: `k${n}` } });
      let n = 0;
      const going = async () => {
        while (!over) {
          const since = performance.now();
          await byKey(staying).use('Create-Price-Quote', order);
          await byKey(staying).use('Upsert-Record', upsert(n));
          assert.ok(performance.now() - since < 9_000, 'it was held up');
        }
      };
      const goingOn = Promise.all([going(), going()]);
      goingOn.catch(() => {});
      for (let cycle = 0; cycle < Math.min(CYCLES, 2); cycle++) {
        const killed = await startServiceProcess({ database });
        const tools = byKey(storeOf(() => killed));
        const untilGone = async () => {
          for (;;) {
            await tools.call('Create-Price-Quote', order);
            n++;
            await tools.call('Upsert-Record', upsert(n));
          }
        };
        const all = Promise.allSettled([untilGone(), untilGone(), untilGone()]);
        const enough = n + 7;
        await wait(300 + Math.random() * 400);
        // Takes long on a busy machine.
        await soon(async () => assert.ok(n >= enough), 30_000);
        await killed.kill();
        await all;
      }
      over = true;
      await goingOn;
      const numbers = (await staying.all('PriceQuotes')).map(({ Number: number }) => number);
      const keys = (await staying.all(table)).map(({ k }) => k);
      assert.ok(numbers.length > 20, 'the test tested nothing');
      assert.equal(new Set(numbers).size, numbers.length);
      assert.equal(new Set(keys).size, keys.length);
    } finally {
      over = true;
      await service.stop();
    }
  });
