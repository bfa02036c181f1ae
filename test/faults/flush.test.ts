/**
 * Commits whose flush takes long, on SQLite: nothing else waits for them, and nobody sees what is not durable yet (preload/faults.c delays the
 * flushes). Reference: operations.md#processes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Json, path } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { injector } from './preload/control.ts';

const FLUSH_MS = 2_000;
/** Reads that are answered this soon after the flush began were read before its end. */
const EARLY_MS = 1_700;
/** Duration of a flush that fails. */
const UNDONE_MS = 500;

const where = (condition: unknown) => `where=${encodeURIComponent(JSON.stringify(condition))}`;

test('while a commit is flushed, reads and requests go on and do not see it; its answer comes after, and then they do', async (t) => {
  if (!engines.includes('sqlite')) return;
  const faults = injector();
  if (!faults) return t.skip('no C compiler');
  const service = await startServiceProcess({ env: faults.env });
  const get = async (address: string): Promise<Json> => {
    const { status, body, text } = await service.call('GET', address);
    assert.equal(status, 200, text);
    return body;
  };
  const { objectId } = (await service.call('POST', path('Flushed'), { body: { Name: 'one', Step: 1 } })).body;
  const own = path('Flushed', objectId);
  const steps: Record<string, () => Promise<number>> = {
    'one record': async () => (await get(own)).Step,
    list: async () => (await get(`${path('Flushed')}?${where({ Step: { $gt: 0 } })}&order=-Step`)).results[0].Step,
    count: async () => 1 + (await get(`${path('Flushed')}?${where({ Step: { $gt: 1 } })}&count=1&limit=0`)).count,
    'on a thread': async () => (await get(`${path('Flushed')}?${where({ Name: { $regex: 'on' } })}&order=-Step`)).results[0].Step,
    aggregate: async () =>
      (await get(`/platform/classes-aggregate/Flushed?group=${encodeURIComponent('{"_id":null,"top":{"$max":"$Step"}}')}`))
        .results[0].top,
  };

  const slow = faults.begin({ calls: ['sync'], path: 'records.sqlite-wal', delayMs: FLUSH_MS });
  let isAnswered = false;
  const answers = Promise.all([
    service.call('PUT', own, { body: { Step: 2 } }),
    service.call('POST', path('Flushed'), { body: { Name: 'two', Step: 2 } }),
  ]).finally(() => {
    isAnswered = true;
  });
  while (slow.met() === 0) await wait(5);
  const began = performance.now();
  const early = new Map(Object.keys(steps).map((name) => [name, 0]));
  const readOn = async ([name, read]: [string, () => Promise<number>]) => {
    while (!isAnswered) {
      const step = await read();
      if (performance.now() - began > EARLY_MS) continue;
      assert.equal(step, 1, `${name}: what is not durable yet`);
      early.set(name, (early.get(name) ?? 0) + 1);
    }
  };
  await Promise.all(Object.entries(steps).map(readOn));
  for (const name of ['one record', 'list', 'count']) assert.ok((early.get(name) ?? 0) > 0, `${name}: goes on`);
  assert.deepEqual(
    (await answers).map(({ status }) => status),
    [200, 201],
  );
  for (const [name, read] of Object.entries(steps)) assert.ok((await read()) >= 2, `${name}: what was answered`);

  // What is read with a new field waits for the commit that adds it. What shows the schema waits, too, or does not show it yet.
  let isAdded = false;
  const added = service.call('PUT', own, { body: { Added: 'yes' } }).finally(() => {
    isAdded = true;
  });
  await wait(300);
  const shown = ['/platform/schemas', '/platform/schemas/Flushed', '/platform/openapi.json', '/platform/schema/snapshot'];
  const shows = async (address: string) => JSON.stringify(await get(address)).includes('"Added"');
  const shownEarly = shown.map(async (address) => (await shows(address)) && !isAdded);
  assert.deepEqual((await get(`${path('Flushed')}?${where({ Added: 'yes' })}`)).results.length, 1);
  assert.equal((await added).status, 200);
  slow.end();
  assert.ok(!(await Promise.all(shownEarly)).includes(true), 'a schema that is not durable yet');
  assert.ok(!(await Promise.all(shown.map(shows))).includes(false), 'a schema that is');

  // A permission whose commit is undone has let nobody read.
  const { sessionToken: session } = (
    await service.call('POST', '/platform/users', { body: { username: 'reader', password: 'Passw0rdX' } })
  ).body;
  const group = encodeURIComponent('{"_id":"$Name"}');
  const onThread = `${path('Flushed')}?${where({ Name: { $regex: 'on' } })}`;
  const asked = [own, path('Flushed'), onThread, `/platform/classes-aggregate/Flushed?group=${group}`];
  const refused = async (address: string) =>
    assert.equal((await service.call('GET', address, { session })).body.code, 119, address);
  // The session is known then, so that only the records are left to read.
  await Promise.all(asked.map(refused));
  // The row of the log about the sign-up is written later: nothing else is to be flushed.
  const logged = `${path('_RequestLog')}?${where({ path: '/platform/users' })}`;
  while ((await get(logged)).results.length === 0) await wait(5);
  const failing = faults.begin({ calls: ['sync'], path: 'records.sqlite-wal', delayMs: UNDONE_MS, error: 'EIO' });
  const classLevelPermissions = { find: { '*': true }, get: { '*': true } };
  let isRefused = false;
  const opened = service.call('PUT', '/platform/schemas/Flushed', { body: { classLevelPermissions } }).finally(() => {
    isRefused = true;
  });
  await Promise.all(
    asked.map(async (address) => {
      while (!isRefused) await refused(address);
    }),
  );
  assert.equal((await opened).status, 503);
  failing.end();
  assert.equal(await service.stop(), 0);
});
