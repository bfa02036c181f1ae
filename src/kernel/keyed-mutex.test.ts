import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyedMutex } from './keyed-mutex.ts';
import { memoByObject } from './memo.ts';

test('work of one key goes one after the other, that of others meanwhile', async () => {
  const mutex = new KeyedMutex();
  const done: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = mutex.runExclusive('a', async () => {
    await gate.promise;
    done.push('a1');
  });
  const second = mutex.runExclusive('a', async () => done.push('a2'));
  await mutex.runExclusive('b', async () => done.push('b'));
  assert.deepEqual(done, ['b']);
  gate.resolve();
  await Promise.all([first, second]);
  assert.deepEqual(done, ['b', 'a1', 'a2']);
  assert.equal(mutex.size, 0);
});

test('work that fails lets the next go on, and leaves nothing behind', async () => {
  const mutex = new KeyedMutex();
  const failing = () => mutex.runExclusive('a', () => Promise.reject(new Error('failed')));
  const results = await Promise.allSettled([
    failing(),
    mutex.runExclusive('a', async () => 1),
    failing(),
    mutex.runExclusive('a', async () => 2),
  ]);
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? result.value : (result.reason as Error).message)),
    ['failed', 1, 'failed', 2],
  );
  assert.equal(mutex.size, 0);
});

test('owners have keys of their own', async () => {
  const mutexOf = memoByObject<object, KeyedMutex>(() => new KeyedMutex());
  const [one, other] = [{}, {}];
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const works = [
    mutexOf(one).runExclusive('a', () => first.promise.then(() => done.push('first'))),
    mutexOf(one).runExclusive('a', async () => done.push('second')),
    mutexOf(other).runExclusive('a', async () => done.push('of the other')),
  ];
  await works[2];
  first.resolve();
  await Promise.all(works);
  assert.deepEqual(done, ['of the other', 'first', 'second']);
});
