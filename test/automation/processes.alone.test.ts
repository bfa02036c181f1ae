/** Several processes on one database: each run is done once, in the order of a record's writes, and those of a killed process are taken over. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeData, type OwnData } from '../support/data.ts';
import { type Json, path } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { createUntilGone, defineTrail, emptied, layTrail, type Trail, verifyTrail } from './trail.ts';

/** Milliseconds in which a process hears of a definition that another one has taken: half a second, and as much again. */
const HEARING_MS = 1_000;

const rows = async (service: ServiceProcess, table: string, where: object): Promise<Json[]> => {
  const answer = await service.call('GET', path(table), { query: { where, limit: 100_000 } });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.results;
};

if (engines.includes('postgres'))
  describe('two services on one database', { timeout: 240_000 }, () => {
    let data: OwnData;
    let a: ServiceProcess;
    let b: ServiceProcess;
    let trail: Trail;
    /** A record of Steps, whose table has a trigger. */
    let stepping: string;
    let start: () => Promise<ServiceProcess>;
    before(async () => {
      data = await makeData('postgres');
      const { database } = data;
      assert.ok(database);
      trail = await layTrail();
      start = () => startServiceProcess({ database, env: trail.env });
      a = await start();
      b = await start();
      await defineTrail(a);
      stepping = (await a.call('POST', path('Steps'), { body: { Step: 0 } })).body.objectId;
      await a.call('POST', '/platform/schemas/Seen', { body: { className: 'Seen', fields: { Step: { type: 'Number' } } } });
      const action = { type: 'create-object', actionData: { table: 'Seen', fields: { Step: '{{Step}}' } } };
      const trigger = { table: 'Steps', events: ['update'], actions: [action] };
      const defined = await a.call('POST', path('_Trigger'), { body: trigger });
      assert.equal(defined.status, 201, defined.text);
      await wait(HEARING_MS);
    });
    after(async () => {
      await b.stop();
      await a.stop();
      await trail.close();
      await data.remove();
    });

    test('each queued run is claimed once', async () => {
      const answered: string[] = [];
      const create = async (service: ServiceProcess, n: number) => {
        const answer = await service.call('POST', path('Tasks'), { body: { Name: `t${n}` } });
        assert.equal(answer.status, 201, answer.text);
        answered.push(answer.body.objectId);
      };
      for (let batch = 0; batch < 6; batch++)
        await Promise.all(Array.from({ length: 20 }, (_, n) => create(n % 2 === 0 ? a : b, n)));
      await emptied(a);
      assert.equal(await verifyTrail(b, answered, trail), answered.length);
    });

    test('writes of one record fire in their order, whatever process they came by', async () => {
      const steps = 100;
      for (let step = 1; step <= steps; step++) {
        const answer = await (step % 2 === 0 ? a : b).call('PUT', path('Steps', stepping), { body: { Step: step } });
        assert.equal(answer.status, 200, answer.text);
      }
      await emptied(a);
      const seen = await rows(b, 'Seen', {});
      assert.deepEqual(
        seen.map(({ Step }) => Step),
        Array.from({ length: steps }, (_, n) => n + 1),
      );
    });

    test("a killed process's runs are taken over", async () => {
      const answered: string[] = [];
      for (let cycle = 1; cycle <= 3; cycle++) {
        const doomed = await start();
        let left = 10 + Math.floor(Math.random() * 40);
        const killed = Promise.withResolvers<void>();
        const onAnswer = () => {
          if (--left === 0) doomed.kill().then(killed.resolve, killed.reject);
        };
        const writers = [0, 1, 2, 3].map((n) => createUntilGone(doomed, `k${cycle}w${n}`, onAnswer));
        for (const ids of await Promise.all(writers)) answered.push(...ids);
        await killed.promise;
        // Nobody is started in its place.
        await emptied(a);
      }
      await verifyTrail(a, answered, trail, 'Steps');
    });
  });
