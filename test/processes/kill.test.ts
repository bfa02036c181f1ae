/** One of several processes is killed in the middle of its writes: the others go on, and nothing that it acknowledged is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { prepare, verify } from '../crash/check.ts';
import { CounterModel, RecordModel } from '../crash/model.ts';
import { counterPath, writeUntilGone } from '../crash/writers.ts';
import { dataForTest } from '../support/data.ts';
import { engines, startService } from '../support/service.ts';

if (engines.includes('postgres'))
  test('a process is killed in the middle of writes: the other is not held up and nothing is lost', {
    timeout: 120_000,
  }, async () => {
    const { database } = await dataForTest('postgres');
    assert.ok(database);
    const [records, counter] = [new RecordModel(), new CounterModel()];
    const staying = await startService({ database });
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
      for (let cycle = 1; cycle <= 5; cycle++) {
        const killed = await startService({ database });
        const writers = Array.from({ length: 6 }, (_, n) => writeUntilGone(killed, `k${cycle}-${n}`, records, counter));
        const all = Promise.all(writers);
        await wait(200 + Math.random() * 500);
        await killed.kill();
        acknowledged = (await all).reduce((sum, count) => sum + count, acknowledged);
      }
      over = true;
      await goingOn;
      assert.ok(acknowledged > 50, 'the test tested nothing');
      // What was sent may still be under way in the database.
      await wait(500);
      await verify(staying, records, counter, 5);
    } finally {
      over = true;
      await staying.stop();
    }
  });
