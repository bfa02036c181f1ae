/** Several services on one database, of which one is killed with many queued jobs: the others do each job, once, within seconds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineTrail, emptied, layTrail, verifyTrail } from '../automation/trail.ts';
import { startServices } from '../processes/processes.ts';
import { dataForTest } from '../support/data.ts';
import { type Json, path } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';

const BATCHES = 3;
const BATCH_SIZE = 40;

if (engines.includes('postgres'))
  test(`three services, the one with ${BATCHES * BATCH_SIZE} jobs killed: each is done once`, { timeout: 120_000 }, async () => {
    const { database } = await dataForTest('postgres');
    assert.ok(database);
    const trail = await layTrail();
    const running: ServiceProcess[] = [];
    try {
      running.push(await startServiceProcess({ database, env: trail.env }));
      const [first] = running;
      assert.ok(first);
      await defineTrail(first);
      running.push(...(await startServices(2, database, trail.env)));
      // Mails are sent one after the other, so that the queue is long when the process ends.
      trail.smtp.slow(20);
      const answered: string[] = [];
      const requests = Array.from({ length: BATCH_SIZE }, (_, n) => ({
        method: 'POST',
        path: path('Tasks'),
        body: { Name: `t${n}` },
      }));
      const batches = Array.from({ length: BATCHES }, () => first.call('POST', '/platform/batch', { body: { requests } }));
      for (const { status, body, text } of await Promise.all(batches)) {
        assert.equal(status, 200, text);
        answered.push(...body.map((item: Json) => item.success.objectId));
      }
      await first.kill();
      trail.smtp.slow(0);
      const [, second] = running;
      assert.ok(second);
      await emptied(second);
      assert.equal(await verifyTrail(second, answered, trail), BATCHES * BATCH_SIZE);
    } finally {
      for (const { process, stop } of running) if (process.exitCode === null && process.signalCode === null) await stop();
      await trail.close();
    }
  });
