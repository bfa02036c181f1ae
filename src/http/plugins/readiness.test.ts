import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Readiness } from './readiness.ts';

const all = { nodes: 0, systems: 0 };

test('the store is asked once for all who ask meanwhile, and for who asks soon after', async () => {
  let asked = 0;
  const readiness = new Readiness(async () => {
    asked++;
    await wait(20);
    return all;
  });
  assert.deepEqual(await Promise.all([readiness.check(), readiness.check()]), [all, all]);
  assert.equal(await readiness.check(), all);
  assert.equal(asked, 1);
});

test('a store that fails, or does not answer in time, is not ready; one that is back is soon asked again', async () => {
  let probe = (): Promise<typeof all> => Promise.reject(new Error('away'));
  const readiness = new Readiness(() => probe());
  assert.equal(await readiness.check(), null);
  probe = () => new Promise(() => {});
  await wait(300);
  assert.equal(await readiness.check(), null);
  probe = () => Promise.resolve(all);
  await wait(300);
  assert.equal(await readiness.check(), all);
});

test('an answer that came while the event loop was busy counts', async () => {
  const readiness = new Readiness(() => new Promise((resolve) => setImmediate(() => setImmediate(() => resolve(all)))));
  const asked = readiness.check();
  const until = performance.now() + 1_000;
  while (performance.now() < until);
  assert.equal(await asked, all);
});
