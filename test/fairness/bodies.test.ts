/** Unfinished bodies: their memory is bounded together, and they delay no other request (adr/0017). */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { unique } from '../support/records.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { stopAfter } from './unfinished.ts';

const MB = 1_000_000;

let service: ServiceProcess;
before(async () => {
  service = await startServiceProcess({ env: { TRUST_PROXY: 'on' } });
});
after(() => service.stop());

/** Returns the resident memory of the service in megabytes. */
async function memory(): Promise<number> {
  const status = await readFile(`/proc/${service.process.pid}/status`, 'latin1');
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1]) / 1_000;
}
const from = (address: string) => ({ 'X-Forwarded-For': address });

test('bodies of 19 MB that stop before their end are bounded together; others are answered', async () => {
  const name = unique('T');
  await service.call('POST', `/platform/classes/${name}`, { body: { s: 'x'.repeat(10 * MB) } });
  const start = await memory();
  const body = Buffer.alloc(19 * MB, 'x');
  const stopped = Array.from({ length: 30 }, () =>
    stopAfter(service, { path: '/platform/batch', length: 20 * MB, body, headers: from('203.0.113.1') }),
  );
  await wait(1_500);
  const grown = (await memory()) - start;
  assert.ok(grown < 300, `${grown} MB`);
  const create = async (address: string, size: number) => {
    const sent = { headers: from(address), body: { s: 'x'.repeat(size) } };
    assert.equal((await service.call('POST', `/platform/classes/${name}`, sent)).status, 201);
  };
  await create('203.0.113.1', 1);
  await create('203.0.113.2', 19 * MB);
  assert.ok(stopped.every(({ status }) => status === 0));
  // The share of the address is in use until the stopped requests time out.
  await create('203.0.113.1', 19 * MB);
  assert.ok(stopped.some(({ status }) => status === 408));
  for (const { sent } of stopped) sent.destroy();
});

test('endpoints that need only a name and a password answer 413 to more than 64 KB', async () => {
  const body = { username: 'a', password: 'x'.repeat(70_000) };
  for (const path of ['login', 'logout', 'requestPasswordReset', 'users/me', 'sessions/me'])
    assert.equal((await service.call('POST', `/platform/${path}`, { body })).status, 413, path);
  const fits = { username: 'a', password: 'x'.repeat(60_000) };
  assert.equal((await service.call('POST', '/platform/login', { body: fits })).status, 404);
});

test('uploads that stop before their end delay no other upload', async () => {
  const stopped = Array.from({ length: 40 }, () =>
    stopAfter(service, { path: '/platform/files/x.txt', length: 1_000, body: '{' }),
  );
  await wait(300);
  const started = performance.now();
  const answer = await fetch(`${service.url}/platform/files/a.txt`, {
    method: 'POST',
    body: JSON.stringify({
      _ApplicationId: service.appId,
      _MasterKey: service.masterKey,
      base64: 'aGVsbG8=',
      _ContentType: 'text/plain',
    }),
  });
  assert.equal(answer.status, 201, await answer.text());
  assert.ok(performance.now() - started < 5_000);
  for (const { sent } of stopped) sent.destroy();
});
