/** An import over HTTP continues after the end of its service, with every row once. Reference: import.md#import-jobs. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { dataForTest } from '../../support/data.ts';
import { defineTable, find } from '../../support/query.ts';
import { engines } from '../../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';

const rows = 6_000;
const kills = Number(process.env.IMPORT_KILLS ?? 2);

const text = `n,text\n${Array.from({ length: rows }, (_, n) => (n % 100 === 7 ? `no ${n},` : `${n},row ${n}`)).join('\n')}`;

async function begin(service: ServiceProcess): Promise<string> {
  await defineTable(service, 'Cut', { n: 'Number', text: 'String' });
  const response = await fetch(`${service.url}/platform/import/Cut`, {
    method: 'POST',
    headers: {
      'x-platform-application-id': service.appId,
      'x-platform-master-key': service.masterKey,
      'content-type': 'text/csv',
    },
    body: text,
  });
  assert.equal(response.status, 202);
  return ((await response.json()) as { job: string }).job;
}

async function assertWhole(service: ServiceProcess, job: string): Promise<void> {
  const deadline = Date.now() + 90_000;
  for (;;) {
    const { body } = await service.call('GET', `/platform/jobs/${job}`);
    if (body.state !== 'running') {
      const { state, done, of, created, updated, rejected } = body;
      assert.deepEqual(
        [state, done, of, created, updated, rejected],
        ['done', rows, rows, rows - 60, 0, 60],
        JSON.stringify(body),
      );
      break;
    }
    assert.ok(Date.now() < deadline, JSON.stringify(body));
    await wait(50);
  }
  const found = await find(service, 'Cut', { keys: 'n', limit: 2 * rows });
  assert.equal(found.length, rows - 60);
  assert.equal(new Set(found.map(({ n }) => n)).size, rows - 60);
  const { text: rejected } = await service.call('GET', `/platform/jobs/${job}/rejected`);
  assert.deepEqual(
    rejected
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).line),
    Array.from({ length: 60 }, (_, n) => 100 * n + 9),
  );
}

for (const engine of engines) {
  test(`Import job: continues after SIGKILL of the service, every row once (${engine})`, async () => {
    const data = await dataForTest(engine);
    let service = await startServiceProcess(data);
    try {
      const job = await begin(service);
      for (let kill = 0; kill < kills; kill++) {
        await wait(randomInt(0, 700));
        await service.kill();
        service = await startServiceProcess(data);
      }
      await assertWhole(service, job);
    } finally {
      await service.stop();
    }
  });

  if (engine === 'postgres')
    test('Import job: another process takes over when the executing process is killed', async () => {
      const data = await dataForTest(engine);
      const services = [await startServiceProcess(data), await startServiceProcess(data)] as const;
      try {
        const job = await begin(services[0]);
        await wait(randomInt(100, 700));
        await services[0].kill();
        await assertWhole(services[1], job);
      } finally {
        await services[1].stop();
      }
    });
}
