/** Reference: metrics.md#several-processes. A scrape is of all processes, in time, and counts never go back. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { path, send } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { soon } from '../support/soon.ts';
import { type Families, familiesOf, samplesOf, sumOfSamples } from './text.ts';

const token = 'the-token-of-the-metrics';
const route = '/platform/classes/:className';

if (engines.includes('postgres'))
  describe('WEB_CONCURRENCY=2', () => {
    let service: ServiceProcess;
    before(async () => {
      const env = { WEB_CONCURRENCY: '2', METRICS_TOKEN: token, METRICS_PORT: '0', LOG_LEVEL: 'info' };
      service = await startServiceProcess({ engine: 'postgres', env });
    });
    after(() => service.stop());

    /** On a new connection, which any of the processes may accept. */
    const ask = (at: string, headers: Record<string, string> = {}) =>
      send(service, { method: 'GET', path: at, headers: { 'X-Platform-Application-Id': service.appId, ...headers } });
    const requests = (count: number) =>
      Promise.all(Array.from({ length: count }, () => ask(path('Accounts'), { 'X-Platform-Master-Key': service.masterKey })));
    const onMainPort = async (): Promise<Families> => {
      const answer = await ask('/metrics', { authorization: `Bearer ${token}`, connection: 'close' });
      assert.equal(answer.status, 200, answer.text);
      return familiesOf(answer.text);
    };
    const onOwnPort = async (): Promise<Families> => {
      const [, address = ''] = /"address":"(http:[^"]*\/metrics)"/.exec(service.output()) ?? [];
      return familiesOf(await (await fetch(address)).text());
    };
    const counted = (families: Families) => sumOfSamples(families, 'rds_requests_total', { route, status: '200' });
    const workers = () =>
      readFileSync(`/proc/${service.process.pid}/task/${service.process.pid}/children`, 'utf8').trim().split(' ').map(Number);

    test('either way, a scrape sums what all processes counted', async () => {
      await requests(40);
      for (const scrape of [onMainPort, onOwnPort, onMainPort])
        await soon(async () => assert.equal(counted(await scrape()), 40), 5_000);
    });

    test('what is the same in all processes is not summed', async () => {
      await soon(async () => {
        const families = await onOwnPort();
        const states = Object.fromEntries(samplesOf(families, 'rds_systems').map(({ labels, value }) => [labels.state, value]));
        assert.deepEqual(states, { open: 1, closed: 0, held: 0, removed: 0 });
        assert.equal(samplesOf(families, 'rds_store_bytes').length, 1);
        const [{ value: started = 0 } = {}] = samplesOf(families, 'process_start_time_seconds');
        assert.ok(Math.abs(Date.now() / 1_000 - started) < 600, String(started));
      }, 5_000);
    });

    test('a process that does not answer delays a scrape by two seconds, and its counts stay', async () => {
      const stopped = workers()[0] ?? 0;
      process.kill(stopped, 'SIGSTOP');
      try {
        const began = performance.now();
        const scrapes = await Promise.all([onOwnPort(), onOwnPort(), onOwnPort()]);
        assert.ok(performance.now() - began < 10_000);
        for (const families of scrapes) assert.equal(counted(families), 40);
      } finally {
        process.kill(stopped, 'SIGCONT');
      }
      await soon(async () => assert.equal(counted(await onOwnPort()), 40), 5_000);
    });

    test('the counts of a process that ended stay', async () => {
      const [ended = 0, other = 0] = workers();
      process.kill(ended, 'SIGKILL');
      await soon(async () => assert.ok(!workers().includes(ended)), 5_000);
      assert.ok(workers().includes(other));
      await soon(async () => assert.equal(counted(await onOwnPort()), 40), 5_000);
    });
  });
