/**
 * A crash loses no acknowledged write and leaves no half of one (CONTRACT, Records: a write happens whole or not at all).
 * `CRASH_CYCLES` sets the number of kills for a long run.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { engines, type Service, startService } from '../support/service.ts';
import { CounterModel, RecordModel } from './model.ts';
import { counterPath, table, writeUntilGone } from './writers.ts';

const cycles = Number(process.env.CRASH_CYCLES ?? 20);
const writers = 6;

for (const engine of engines)
  describe(`crash (${engine})`, () => {
    test(`Records: ${cycles} kills in the middle of writes lose nothing`, { timeout: 60_000 + cycles * 10_000 }, async (t) => {
      const dataDir = await mkdtemp(join(tmpdir(), 'rds-crash-'));
      const records = new RecordModel();
      const counter = new CounterModel();
      let service = await startService({ engine, dataDir });
      let acknowledged = 0;
      try {
        await prepare(service);
        for (let cycle = 1; cycle <= cycles; cycle++) {
          const running = Array.from({ length: writers }, (_, index) =>
            writeUntilGone(service, `c${cycle}w${'.'.repeat(index)}${index}`, records, counter),
          );
          const all = Promise.allSettled(running);
          await sleep(20 + Math.random() * 230);
          await service.kill();
          for (const result of await all) {
            if (result.status === 'rejected') throw result.reason;
            acknowledged += result.value;
          }
          service = await startService({ engine, dataDir });
          await verify(service, records, counter, cycle);
        }
        t.diagnostic(`${acknowledged} acknowledged writes over ${cycles} kills, ${records.size} records at the end`);
        assert.ok(acknowledged >= cycles, `only ${acknowledged} writes were acknowledged: the test tested nothing`);
        assert.equal(await service.stop(), 0);
      } finally {
        if (service.process.exitCode === null && service.process.signalCode === null) await service.kill();
        await rm(dataDir, { recursive: true, force: true });
      }
    });
  });

async function prepare(service: Service): Promise<void> {
  const fields = { tag: { type: 'String' }, a: { type: 'String' }, b: { type: 'String' }, c: { type: 'Object' } };
  const made = await service.call('POST', `/platform/schemas/${table}`, { body: { className: table, fields } });
  assert.equal(made.status, 200, made.text);
  const body = { objectId: 'counter', n: 0, m: 0 };
  const created = await service.call('POST', '/platform/classes/CrashCounter', { body });
  assert.equal(created.status, 201, created.text);
}

async function verify(service: Service, records: RecordModel, counter: CounterModel, cycle: number): Promise<void> {
  const listed = await service.call('GET', `/platform/classes/${table}`, { query: { limit: 1_000_000, count: 1 } });
  assert.equal(listed.status, 200, `after kill ${cycle}: ${listed.text}`);
  assert.equal(listed.body.count, listed.body.results.length);
  records.verify(listed.body.results);
  const { status, body, text } = await service.call('GET', counterPath);
  assert.equal(status, 200, `after kill ${cycle}: ${text}`);
  counter.verify(body.n, body.m);
}
