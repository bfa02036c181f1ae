import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StalenessCheck } from './staleness-check.ts';

/** Looks that end when told to. */
class Looks {
  readonly begun: PromiseWithResolvers<void>[] = [];

  readonly look = (): Promise<void> => {
    const look = Promise.withResolvers<void>();
    this.begun.push(look);
    return look.promise;
  };
}

test('nothing is looked at while notices come, but for what is distrusted', async () => {
  const looks = new Looks();
  const freshness = new StalenessCheck(() => true, looks.look);
  assert.equal(freshness.whenCurrent(), undefined);
  freshness.distrust();
  const current = freshness.whenCurrent();
  looks.begun[0]?.resolve();
  await current;
  assert.equal(freshness.whenCurrent(), undefined);
});

test('who asks while it is looked waits for a look that began after what he has to know', async () => {
  const looks = new Looks();
  const freshness = new StalenessCheck(() => true, looks.look);
  freshness.distrust();
  const first = freshness.whenCurrent();
  freshness.distrust();
  let isCurrent = false;
  const second = freshness.whenCurrent()?.then(() => {
    isCurrent = true;
  });
  looks.begun[0]?.resolve();
  await new Promise(setImmediate);
  assert.deepEqual([looks.begun.length, isCurrent], [2, false]);
  looks.begun[1]?.resolve();
  await Promise.all([first, second]);
});

test('where notices do not come many share a look, and a look that failed is none', async () => {
  const looks = new Looks();
  const freshness = new StalenessCheck(() => false, looks.look);
  const failed = [freshness.whenCurrent(), freshness.whenCurrent()];
  looks.begun[0]?.reject(new Error('away'));
  for (const one of failed) await assert.rejects(one ?? Promise.resolve(), { message: 'away' });
  const current = freshness.whenCurrent();
  looks.begun[1]?.resolve();
  await current;
  assert.equal(freshness.whenCurrent(), undefined);
  assert.equal(looks.begun.length, 2);
});
