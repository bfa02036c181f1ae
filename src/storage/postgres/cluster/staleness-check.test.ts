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
  const staleness = new StalenessCheck(() => true, looks.look);
  await staleness.whenCurrent();
  assert.equal(looks.begun.length, 0);
  staleness.distrust();
  const current = staleness.whenCurrent();
  looks.begun[0]?.resolve();
  await current;
  await staleness.whenCurrent();
  assert.equal(looks.begun.length, 1);
});

test('who asks while it is looked waits for a look that began after what he has to know', async () => {
  const looks = new Looks();
  const staleness = new StalenessCheck(() => true, looks.look);
  staleness.distrust();
  const first = staleness.whenCurrent();
  staleness.distrust();
  let isCurrent = false;
  const second = staleness.whenCurrent()?.then(() => {
    isCurrent = true;
  });
  looks.begun[0]?.resolve();
  await new Promise(setImmediate);
  assert.deepEqual([looks.begun.length, isCurrent], [2, false]);
  looks.begun[1]?.resolve();
  await Promise.all([first, second]);
});

test('who asks while it is looked waits for that look, though notices come', async () => {
  const looks = new Looks();
  const staleness = new StalenessCheck(() => true, looks.look);
  assert.equal(staleness.isCurrent(), true);
  staleness.distrust();
  assert.equal(staleness.isCurrent(), false);
  const ended: string[] = [];
  const asked = ['first', 'second'].map((one) => staleness.whenCurrent().then(() => ended.push(one)));
  assert.equal(staleness.isCurrent(), false);
  await new Promise(setImmediate);
  assert.deepEqual([looks.begun.length, ended], [1, []]);
  looks.begun[0]?.resolve();
  await Promise.all(asked);
  await new Promise(setImmediate);
  assert.deepEqual([ended, staleness.isCurrent()], [['first', 'second'], true]);
});

test('where notices do not come many share a look, and a look that failed is none', async () => {
  const looks = new Looks();
  const staleness = new StalenessCheck(() => false, looks.look);
  const failed = [staleness.whenCurrent(), staleness.whenCurrent()];
  looks.begun[0]?.reject(new Error('away'));
  for (const one of failed) await assert.rejects(one ?? Promise.resolve(), { message: 'away' });
  const current = staleness.whenCurrent();
  looks.begun[1]?.resolve();
  await current;
  await staleness.whenCurrent();
  assert.equal(looks.begun.length, 2);
});
