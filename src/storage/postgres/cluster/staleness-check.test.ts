import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StalenessCheck } from './staleness-check.ts';

/** Refreshes that the test ends. */
class Refreshes {
  readonly begun: PromiseWithResolvers<void>[] = [];

  readonly refresh = (): Promise<void> => {
    const refresh = Promise.withResolvers<void>();
    this.begun.push(refresh);
    return refresh.promise;
  };
}

test('nothing is looked at while notices come, but for what is distrusted', async () => {
  const refreshes = new Refreshes();
  const staleness = new StalenessCheck(() => true, refreshes.refresh);
  await staleness.whenCurrent();
  assert.equal(refreshes.begun.length, 0);
  staleness.markStale();
  const current = staleness.whenCurrent();
  refreshes.begun[0]?.resolve();
  await current;
  await staleness.whenCurrent();
  assert.equal(refreshes.begun.length, 1);
});

test('who asks while it is looked waits for a refresh that began after what they have to know', async () => {
  const refreshes = new Refreshes();
  const staleness = new StalenessCheck(() => true, refreshes.refresh);
  staleness.markStale();
  const first = staleness.whenCurrent();
  staleness.markStale();
  let isCurrent = false;
  const second = staleness.whenCurrent()?.then(() => {
    isCurrent = true;
  });
  refreshes.begun[0]?.resolve();
  await new Promise(setImmediate);
  assert.deepEqual([refreshes.begun.length, isCurrent], [2, false]);
  refreshes.begun[1]?.resolve();
  await Promise.all([first, second]);
});

test('who asks while it is looked waits for that refresh, though notices come', async () => {
  const refreshes = new Refreshes();
  const staleness = new StalenessCheck(() => true, refreshes.refresh);
  assert.equal(staleness.isCurrent(), true);
  staleness.markStale();
  assert.equal(staleness.isCurrent(), false);
  const ended: string[] = [];
  const asked = ['first', 'second'].map((one) => staleness.whenCurrent().then(() => ended.push(one)));
  assert.equal(staleness.isCurrent(), false);
  await new Promise(setImmediate);
  assert.deepEqual([refreshes.begun.length, ended], [1, []]);
  refreshes.begun[0]?.resolve();
  await Promise.all(asked);
  await new Promise(setImmediate);
  assert.deepEqual([ended, staleness.isCurrent()], [['first', 'second'], true]);
});

test('where notices do not come many share a refresh, and a refresh that failed is none', async () => {
  const refreshes = new Refreshes();
  const staleness = new StalenessCheck(() => false, refreshes.refresh);
  const failed = [staleness.whenCurrent(), staleness.whenCurrent()];
  refreshes.begun[0]?.reject(new Error('away'));
  for (const one of failed) await assert.rejects(one ?? Promise.resolve(), { message: 'away' });
  const current = staleness.whenCurrent();
  refreshes.begun[1]?.resolve();
  await current;
  await staleness.whenCurrent();
  assert.equal(refreshes.begun.length, 2);
});
