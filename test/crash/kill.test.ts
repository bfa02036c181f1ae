/** A crash loses no acknowledged write and leaves no half of one. Reference: records.md#atomic-writes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeData } from '../support/data.ts';
import { engines } from '../support/service.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { CYCLES as cycles, prepare, verify } from './check.ts';
import { CounterModel, RecordModel } from './model.ts';
import { writeUntilGone } from './writers.ts';

const writers = 6;

for (const engine of engines)
  describe(`crash (${engine})`, () => {
    test(`Records: ${cycles} kills in the middle of writes lose nothing`, { timeout: 120_000 + cycles * 10_000 }, async (t) => {
      const data = await makeData(engine);
      const records = new RecordModel();
      const counter = new CounterModel();
      let service = await startServiceProcess(data);
      let acknowledged = 0;
      try {
        await prepare(service);
        for (let cycle = 1; cycle <= cycles; cycle++) {
          const running = Array.from({ length: writers }, (_, index) =>
            writeUntilGone(service, `c${cycle}w${'.'.repeat(index)}${index}`, records, counter),
          );
          const all = Promise.allSettled(running);
          await Promise.all([records.confirms(2), sleep(20 + Math.random() * 230)]);
          await service.kill();
          for (const result of await all) {
            if (result.status === 'rejected') throw result.reason;
            acknowledged += result.value;
          }
          service = await startServiceProcess(data);
          await verify(service, records, counter, cycle);
          assert.doesNotMatch(service.output(), /may be missing|the store is/);
        }
        t.diagnostic(`${acknowledged} acknowledged writes over ${cycles} kills, ${records.size} records at the end`);
        assert.ok(acknowledged >= cycles, `only ${acknowledged} writes were acknowledged: the test tested nothing`);
        assert.equal(await service.stop(), 0);
      } finally {
        if (service.process.exitCode === null && service.process.signalCode === null) await service.kill();
        await data.remove();
      }
    });
  });
