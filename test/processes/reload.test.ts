/** SIGHUP to a service of several processes replaces them one by one, and no request fails. Reference: operations.md#reload. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { soon } from '../support/soon.ts';

/** Time limit of a reload, in milliseconds. */
const RELOAD_TIMEOUT_MS = 60_000;

let service: ServiceProcess;

const hup = () => process.kill(service.process.pid ?? 0, 'SIGHUP');
const saveSettings = (text: string) => writeFileSync(join(service.dataDir, '.env'), text);

/** Returns the process ids of the workers. */
const workers = () =>
  readFileSync(`/proc/${service.process.pid}/task/${service.process.pid}/children`, 'utf8').trim().split(' ').map(Number);

type Line = Record<string, unknown> & { msg: string };

/** Returns the log lines with a message. */
const lines = (msg: string): Line[] =>
  service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.msg === msg);

/** Sends a request on a connection of its own: a kept one would keep an old process. */
const call = (method: string, path: string, headers: Record<string, string> = {}) => send(new Agent(), { method, path, headers });

/** Waits for one more line with a message than there was. */
async function nextLine(msg: string, act: () => void): Promise<Line> {
  const before = lines(msg).length;
  act();
  await soon(async () => assert.ok(lines(msg).length > before, service.output()), RELOAD_TIMEOUT_MS);
  return lines(msg).at(-1) as Line;
}

interface Sent {
  method: string;
  path: string;
  headers?: Record<string, string>;
  /** Pieces of the body, each sent when it is there. */
  body?: Iterable<string | Promise<string>>;
}

/** Sends a request on a connection of the agent. @returns status and body @throws if the connection breaks */
function send(agent: Agent, { method, path, headers = {}, body = [] }: Sent): Promise<{ status: number; text: string }> {
  const keys = { 'X-Platform-Application-Id': service.appId, 'X-Platform-Master-Key': service.masterKey };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, service.url), { method, agent, headers: { ...keys, ...headers } }, async (answer) => {
      let text = '';
      for await (const piece of answer) text += piece;
      resolve({ status: answer.statusCode ?? 0, text });
    });
    sent.on('error', reject);
    (async () => {
      for (const piece of body) sent.write(await piece);
      sent.end();
    })().catch(reject);
  });
}

/** Writes and reads on one kept connection until it is told to stop. @returns the number of requests, and what failed */
async function client(pauseMs: number, isOver: () => boolean): Promise<{ requests: number; failed: string[] }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const failed: string[] = [];
  let requests = 0;
  const ask = async (sent: Sent, expected: number) => {
    requests++;
    const { status, text } = await send(agent, sent).catch((error: Error) => ({ status: 0, text: error.message }));
    if (status !== expected) failed.push(`${sent.method} ${sent.path}: ${status} ${text}`);
    return text;
  };
  while (!isOver()) {
    const body = JSON.stringify({ Name: `n${requests}` });
    const made = await ask({ method: 'POST', path: '/platform/classes/Accounts', body: [body] }, 201);
    const { objectId } = JSON.parse(made || '{}') as { objectId?: string };
    const read = await ask({ method: 'GET', path: `/platform/classes/Accounts/${objectId}` }, 200);
    if (!read.includes(body.slice(1, -1))) failed.push(`not what was written: ${read}`);
    await ask({ method: 'GET', path: '/health/ready' }, 200);
    if (pauseMs > 0) await wait(pauseMs);
  }
  agent.destroy();
  return { requests, failed };
}

if (engines.includes('postgres'))
  describe('SIGHUP to a service of two processes', () => {
    before(async () => {
      service = await startServiceProcess({ engine: 'postgres', env: { WEB_CONCURRENCY: '2', LOG_LEVEL: 'info' } });
    });
    after(() => service.stop());

    test('no request fails; the new ones have the settings of now, and start before an old one ends', async () => {
      let isOver = false;
      const before = workers();
      const numbers: number[] = [];
      const clients = [5, 20, 60, 150].map((pause) => client(pause, () => isOver));
      const arriving = Promise.withResolvers<string>();
      const upload = send(new Agent(), {
        method: 'POST',
        path: '/platform/files/long.txt',
        headers: { 'Content-Type': 'text/plain' },
        body: ['begun ', arriving.promise, ' and ended'],
      });
      await wait(300);
      saveSettings('BASE_URL=http://later.example\n');
      const watch = setInterval(() => numbers.push(workers().length), 10);
      after(() => (isOver = true));
      const { processes, version } = await nextLine('reloaded', () => {
        hup();
        void soon(async () => assert.ok(workers().some((pid) => !before.includes(pid))), RELOAD_TIMEOUT_MS).then(() =>
          arriving.resolve('x'.repeat(100_000)),
        );
      });
      await wait(200);
      isOver = true;
      clearInterval(watch);
      const results = await Promise.all(clients);
      assert.deepEqual(
        results.flatMap(({ failed }) => failed),
        [],
      );
      for (const { requests } of results) assert.ok(requests >= 3, `${requests} requests`);
      assert.equal((await upload).status, 201);
      assert.equal(processes, 2);
      assert.match(String(version), /^\d+\.\d+\.\d+$/);
      await soon(
        async () => assert.deepEqual([workers().length, workers().filter((pid) => before.includes(pid))], [2, []]),
        5_000,
      );
      assert.ok(Math.min(...numbers) >= 2, 'never less than two');
      assert.ok(Math.max(...numbers) <= 3, `one by one: ${numbers}`);
      assert.match((await call('GET', '/', { Accept: 'application/json' })).text, /"http:\/\/later\.example\/console\/"/);
    });

    test('settings that are malformed are refused in one line', async () => {
      const before = workers();
      for (const [text, why] of [
        ['SESSION_DAYS=never', 'SESSION_DAYS: must be a whole number of days from 1 to 36500'],
        ['PROT=1', '.env: unknown setting PROT'],
      ] as const) {
        saveSettings(text);
        const { level, processes, ...line } = await nextLine('reload failed', hup);
        assert.deepEqual([level, processes, line.why], [50, 2, why]);
      }
      assert.deepEqual(workers(), before);
      assert.equal((await call('GET', '/platform/classes/Accounts')).status, 200);
    });

    test('a process that cannot serve leaves those that do', async () => {
      const before = workers();
      saveSettings('MAIL_FROM=a@b.example\nFILES_URL=s3://none/?endpoint=http://127.0.0.1:9&region=x\nBACKUP_URL=s3://none\n');
      const { why, processes } = await nextLine('reload failed', hup);
      assert.deepEqual([why, processes], ['a new process could not serve: it ended before it listened', 2]);
      assert.deepEqual(workers(), before);
      assert.equal((await call('GET', '/platform/classes/Accounts')).status, 200);
      rmSync(join(service.dataDir, '.env'));
    });

    test('an old process that ends by itself meanwhile is replaced, and a signal during a reload has one more follow', async () => {
      const before = workers();
      const reloads = lines('reloading').length;
      hup();
      await soon(async () => assert.equal(lines('reloading').length, reloads + 1), RELOAD_TIMEOUT_MS);
      process.kill(before.at(-1) ?? 0, 'SIGKILL');
      for (let n = 0; n < 3; n++) hup();
      await nextLine('reloaded', () => {});
      await soon(async () => assert.equal(lines('reloading').length, reloads + 2));
      assert.equal((await call('GET', '/platform/classes/Accounts')).status, 200);
      assert.equal(workers().filter((pid) => before.includes(pid)).length, 0);
      await nextLine('reloaded', () => {});
      await wait(100);
      assert.equal(lines('reloading').length, reloads + 2);
      assert.equal(workers().length, 2);
    });

    test('SIGTERM during a reload ends all of them', async () => {
      await nextLine('reloading', hup);
      await wait(150);
      const all = workers();
      assert.equal(await service.stop(), 0);
      for (const pid of all) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
    });
  });

test('a service of one process goes on, and says that it cannot', async () => {
  service = await startServiceProcess();
  const said = 'SIGHUP changes nothing in a service of one process: restart it, or set WEB_CONCURRENCY to 2 or more';
  await nextLine(said, hup);
  assert.equal((await call('GET', '/platform/classes/Accounts')).status, 200);
  assert.equal(await service.stop(), 0);
});
