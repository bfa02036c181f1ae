/** A write that was cut off by a crash is repeated with its key: it has one effect. Reference: requests.md#repeated-requests. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { callsOf } from '../functions/operator.ts';
import { makeData } from '../support/data.ts';
import { path, storeOf } from '../support/records.ts';
import { type Answer, engines } from '../support/service.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { soon } from '../support/soon.ts';
import { CYCLES } from './check.ts';

/** A request with its key, and its answer if one came. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly key: string;
  answer?: Answer;
}

const table = 'Once';
const WRITERS = 8;

for (const engine of engines)
  describe(`crash (${engine})`, () => {
    test('every request that was sent is repeated: records, counters and batches have each effect once', {
      timeout: 300_000,
    }, async (t) => {
      const data = await makeData(engine);
      let service = await startServiceProcess(data);
      const store = storeOf(() => service);
      const send = ({ method, path: at, body, key }: Sent) =>
        service.call(method, at, { body, headers: { 'Idempotency-Key': key } });
      const up = { N: { __op: 'Increment', amount: 1 } };
      let next = 0;
      let counts = 0;
      let records = 0;
      let cutOff = 0;
      let replayed = 0;
      try {
        await store.table({ Tag: 'Number', N: 'Number' }, table);
        const counter = await store.create(table, { N: 0 });
        const make = (): Sent => {
          const [kind, key] = [next++ % 4, randomUUID()];
          const post = () => ({ method: 'POST', path: path(table), body: { Tag: next } });
          const put = () => ({ method: 'PUT', path: path(table, counter), body: up });
          records += [1, 0, 2, 3][kind] ?? 0;
          counts += [0, 1, 1, 2][kind] ?? 0;
          if (kind === 0) return { ...post(), key };
          if (kind === 1) return { ...put(), key };
          const requests = kind === 2 ? [post(), put(), post()] : [put(), post(), post(), post(), put()];
          return { method: 'POST', path: '/platform/batch', body: { transaction: kind === 2, requests }, key };
        };
        for (let cycle = 1; cycle <= CYCLES; cycle++) {
          const all: Sent[] = [];
          const write = async () => {
            for (;;) {
              const one = make();
              all.push(one);
              try {
                one.answer = await send(one);
              } catch (error) {
                if (error instanceof TypeError) return;
                throw error;
              }
              assert.ok(one.answer.status < 300, one.answer.text);
            }
          };
          const writing = Promise.all(Array.from({ length: WRITERS }, write));
          await sleep(100 + Math.random() * 300);
          await service.kill();
          await writing;
          service = await startServiceProcess(data);
          for (const one of all) {
            const again = await send(one);
            assert.ok(again.status < 300, again.text);
            const isReplay = again.headers.get('idempotency-replayed') === 'true';
            if (one.answer) assert.deepEqual([again.status, again.body, isReplay], [one.answer.status, one.answer.body, true]);
            else {
              cutOff++;
              if (isReplay) replayed++;
            }
            assert.deepEqual((await send(one)).body, again.body);
          }
          const { body } = await service.call('GET', path(table), { query: { limit: 0, count: 1 } });
          assert.equal(body.count, records + 1, 'records');
          assert.equal((await store.read(table, counter)).N, counts, 'the counter');
        }
        t.diagnostic(`${next} requests over ${CYCLES} kills; ${cutOff} had no answer, of which ${replayed} were done`);
        assert.ok(cutOff > 0, 'the test tested nothing');
      } finally {
        if (service.process.exitCode === null && service.process.signalCode === null) await service.kill();
        await data.remove();
      }
    });

    test('a function whose process was killed: its repetition is in doubt, and does not run it again', {
      timeout: 120_000,
    }, async () => {
      const data = await makeData(engine);
      const directory = mkdtempSync(join(tmpdir(), 'rds-test-functions-'));
      writeFileSync(
        join(directory, 'slow.js'),
        `export default async ({ system }) => {
          await system.create('Notes', { Name: 'once' });
          await new Promise((resolve) => setTimeout(resolve, 20_000));
        };`,
      );
      const start = () => startServiceProcess({ ...data, env: { FUNCTIONS_DIR: directory } });
      let service = await start();
      const { send, call } = callsOf(() => service);
      const request = { body: {}, headers: { 'Idempotency-Key': randomUUID() } };
      const notes = async () => (await call('GET', path('Notes'), { query: { limit: 0, count: 1 } })).body.count;
      try {
        send('slow', request).catch(() => {});
        await soon(async () => assert.equal(await notes(), 1), 10_000);
        await service.kill();
        service = await start();
        await soon(async () => {
          const { status, body } = await send('slow', request);
          assert.deepEqual([status, body.inDoubt], [503, true]);
        }, 20_000);
        assert.equal(await notes(), 1);
      } finally {
        if (service.process.exitCode === null && service.process.signalCode === null) await service.kill();
        await data.remove();
        rmSync(directory, { recursive: true });
      }
    });
  });
