import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Readiness } from './readiness.ts';

test('the store is asked once for all who ask meanwhile, and for who asks soon after', async () => {
  let asked = 0;
  const readiness = new Readiness(async () => {
    asked++;
    await wait(20);
  });
  assert.deepEqual(await Promise.all([readiness.isReady(), readiness.isReady()]), [true, true]);
  assert.equal(await readiness.isReady(), true);
  assert.equal(asked, 1);
});

test('a store that fails, or does not answer in time, is not ready; one that is back is soon asked again', async () => {
  let probe = () => Promise.reject(new Error('away'));
  const readiness = new Readiness(() => probe());
  assert.equal(await readiness.isReady(), false);
  probe = () => new Promise(() => {});
  await wait(300);
  assert.equal(await readiness.isReady(), false);
  probe = () => Promise.resolve() as Promise<never>;
  await wait(300);
  assert.equal(await readiness.isReady(), true);
});

test('an answer that came while the event loop was busy counts', async () => {
  const readiness = new Readiness(() => new Promise((resolve) => setImmediate(() => setImmediate(resolve))));
  const asked = readiness.isReady();
  const until = performance.now() + 1_000;
  while (performance.now() < until);
  assert.equal(await asked, true);
});
