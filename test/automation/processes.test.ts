/** Several processes on one database: each run is done once, in the order of a record's writes, and those of a killed process are taken over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataForTest } from '../support/data.ts';
import { type Json, path } from '../support/records.ts';
import { engines, type Service, startService } from '../support/service.ts';
import { createUntilGone, defineTrail, emptied, layTrail, type Trail, verifyTrail } from './trail.ts';

/** Runs a test with two services on one database. */
function together(
  name: string,
  body: (a: Service, b: Service, trail: Trail, start: () => Promise<Service>) => Promise<void>,
): void {
  if (!engines.includes('postgres')) return;
  test(name, { timeout: 120_000 }, async () => {
    const { database } = await dataForTest('postgres');
    assert.ok(database);
    const trail = await layTrail();
    const running: Service[] = [];
    const start = async () => {
      const service = await startService({ database, env: trail.env });
      running.push(service);
      return service;
    };
    try {
      await body(await start(), await start(), trail, start);
    } finally {
      for (const service of running)
        if (service.process.exitCode === null && service.process.signalCode === null) await service.stop();
      await trail.close();
    }
  });
}

const rows = async (service: Service, table: string, where: object): Promise<Json[]> => {
  const answer = await service.call('GET', path(table), { query: { where, limit: 100_000 } });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.results;
};

together('each queued run is claimed once', async (a, b, trail) => {
  await defineTrail(a);
  // The other process hears of the definition within half a second.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const answered: string[] = [];
  const create = async (service: Service, n: number) => {
    const answer = await service.call('POST', path('Tasks'), { body: { Name: `t${n}` } });
    assert.equal(answer.status, 201, answer.text);
    answered.push(answer.body.objectId);
  };
  for (let batch = 0; batch < 10; batch++)
    await Promise.all(Array.from({ length: 20 }, (_, n) => create(n % 2 === 0 ? a : b, n)));
  await emptied(a);
  assert.equal(await verifyTrail(b, answered, trail), answered.length);
});

together('writes of one record fire in their order, whatever process they came by', async (a, b) => {
  const { body } = await a.call('POST', path('Steps'), { body: { Step: 0 } });
  const action = { type: 'create-object', actionData: { table: 'Seen', fields: { Step: '{{Step}}' } } };
  const trigger = { table: 'Steps', events: ['update'], actions: [action] };
  await a.call('POST', '/platform/schemas/Seen', { body: { className: 'Seen', fields: { Step: { type: 'Number' } } } });
  const defined = await a.call('POST', path('_Trigger'), { body: trigger });
  assert.equal(defined.status, 201, defined.text);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const steps = 100;
  for (let step = 1; step <= steps; step++) {
    const answer = await (step % 2 === 0 ? a : b).call('PUT', path('Steps', body.objectId), { body: { Step: step } });
    assert.equal(answer.status, 200, answer.text);
  }
  await emptied(a);
  const seen = await rows(b, 'Seen', {});
  assert.deepEqual(
    seen.map(({ Step }) => Step),
    Array.from({ length: steps }, (_, n) => n + 1),
  );
});

together("a killed process's runs are taken over", async (a, _, trail, start) => {
  await defineTrail(a);
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
  await verifyTrail(a, answered, trail);
});
