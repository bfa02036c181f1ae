/** Several processes under one address: WEB_CONCURRENCY. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { path, send, unique } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { soon } from '../support/soon.ts';
import { times } from './processes.ts';

if (engines.includes('postgres'))
  describe('WEB_CONCURRENCY=3', () => {
    let service: ServiceProcess;
    before(async () => {
      service = await startServiceProcess({ engine: 'postgres', env: { WEB_CONCURRENCY: '3' } });
    });
    after(() => service.stop());

    /** Sends a request on a new connection, which any of the processes may accept. */
    const ask = (method: string, at: string, body?: object) => {
      const headers = { 'X-Platform-Application-Id': service.appId, 'X-Platform-Master-Key': service.masterKey };
      return send(service, { method, path: at, headers, body: body === undefined ? '' : JSON.stringify(body) });
    };

    test('it says once that it listens', () => {
      assert.equal(service.output().match(/listening on/g)?.length, 1, service.output());
    });

    test('a table made on any is written to by all, and what is written is read by all', async () => {
      const table = unique('T');
      const made = await times(60, (n) => ask('POST', path(table), { n }));
      assert.deepEqual([...new Set(made.map(({ status }) => status))], [201]);
      await soon(async () => {
        for (const answer of await times(10, () => ask('GET', path(table)))) assert.equal(answer.body.results.length, 60);
      });
    });

    /** Returns the process ids of the workers. */
    const workers = () =>
      readFileSync(`/proc/${service.process.pid}/task/${service.process.pid}/children`, 'utf8').trim().split(' ').map(Number);

    test('one that is killed is started again, and the others go on meanwhile', async () => {
      const before = workers();
      assert.equal(before.length, 3);
      const [killed = 0] = before;
      process.kill(killed, 'SIGKILL');
      // A connection that is handed to it before the service notices its end is lost.
      await soon(async () => assert.ok(!workers().includes(killed)));
      await wait(100);
      for (const { status } of await times(20, () => ask('GET', path('Accounts')))) assert.equal(status, 200);
      const until = Date.now() + 20_000;
      while (workers().length < 3 && Date.now() < until) await wait(50);
      const now = workers();
      assert.deepEqual([now.length, now.filter((pid) => before.includes(pid)).length], [3, 2]);
    });

    test('SIGTERM: what is under way is answered, and it ends with 0', async () => {
      const table = unique('T');
      const requests = Array.from({ length: 500 }, (_, n) => ({ method: 'POST', path: path(table), body: { n } }));
      const batches = times(6, () => ask('POST', '/platform/batch', { requests }));
      await wait(100);
      const code = await service.stop();
      for (const { status, body } of await batches) assert.deepEqual([status, body.length], [200, 500]);
      assert.equal(code, 0);
    });
  });
