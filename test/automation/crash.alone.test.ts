/**
 * A kill right after an answer loses no trigger (triggers.md#order-and-delivery), no timeline row, and
 * does nothing twice but what nobody can know. `CRASH_CYCLES` sets the number of kills for a long run.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeData } from '../support/data.ts';
import { engines } from '../support/service.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { createUntilGone, defineTrail, emptied, layTrail, verifyTrail } from './trail.ts';

const cycles = Number(process.env.CRASH_CYCLES ?? 4);
const writers = 4;

for (const engine of engines)
  describe(`triggers after a crash (${engine})`, () => {
    test(`${cycles} kills, each right after a 201`, { timeout: 60_000 + cycles * 10_000 }, async (t) => {
      const data = await makeData(engine);
      const trail = await layTrail();
      const answered: string[] = [];
      let service = await startServiceProcess({ ...data, env: trail.env });
      try {
        await defineTrail(service);
        for (let cycle = 1; cycle <= cycles; cycle++) {
          const killed = Promise.withResolvers<void>();
          let left = 1 + Math.floor(Math.random() * 30);
          const onAnswer = () => {
            // In the same turn as the answer came in.
            if (--left === 0) service.kill().then(killed.resolve, killed.reject);
          };
          const running = Array.from({ length: writers }, (_, n) => createUntilGone(service, `c${cycle}w${n}`, onAnswer));
          for (const ids of await Promise.all(running)) answered.push(...ids);
          await killed.promise;
          service = await startServiceProcess({ ...data, env: trail.env });
        }
        await emptied(service);
        const records = await verifyTrail(service, answered, trail);
        t.diagnostic(`${answered.length} answered creates over ${cycles} kills, ${records} records at the end`);
        assert.ok(answered.length >= cycles, 'the test tested nothing');
        assert.equal(await service.stop(), 0);
      } finally {
        if (service.process.exitCode === null && service.process.signalCode === null) await service.kill();
        await trail.close();
        await data.remove();
      }
    });
  });
