/** Passwords are compared one after the other, with the systems and addresses in turn (adr/0017). */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unique } from '../support/records.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { addSystem } from '../systems/cli.ts';

let service: ServiceProcess;
before(async () => {
  service = await startServiceProcess({ env: { TRUST_PROXY: 'on' }, hasRealPasswords: true });
});
after(() => service.stop());

async function logIn(app: string, address: string, username = unique('nobody')): Promise<number> {
  const answer = await fetch(`${service.url}/platform/login`, {
    method: 'POST',
    headers: { 'X-Platform-Application-Id': app, 'X-Forwarded-For': address },
    body: JSON.stringify({ username, password: 'Wrong-1' }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Asserts that an attempt is answered while a flood still waits. */
async function isSoon(attempt: () => Promise<number>): Promise<void> {
  let answered = 0;
  const flood = Array.from({ length: 30 }, () => logIn(service.appId, '203.0.113.1').then(() => answered++));
  while (answered < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(await attempt(), 404);
  assert.ok(answered < 25, `${answered} of 30 were answered before`);
  await Promise.all(flood);
}

test('many attempts at one system do not keep those at another waiting', async () => {
  const { appId } = await addSystem(service);
  assert.equal(await logIn(appId, '203.0.113.2'), 404);
  await isSoon(() => logIn(appId, '203.0.113.2'));
});

test('nor do those of one address keep others of the same system waiting', () =>
  isSoon(() => logIn(service.appId, '203.0.113.2')));
