import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns, TurnsOf } from './turns.ts';

test('work of one key goes one after the other, that of others meanwhile', async () => {
  const turns = new Turns();
  const done: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = turns.take('a', async () => {
    await gate.promise;
    done.push('a1');
  });
  const second = turns.take('a', async () => done.push('a2'));
  await turns.take('b', async () => done.push('b'));
  assert.deepEqual(done, ['b']);
  gate.resolve();
  await Promise.all([first, second]);
  assert.deepEqual(done, ['b', 'a1', 'a2']);
  assert.equal(turns.size, 0);
});

test('work that fails lets the next go on, and leaves nothing behind', async () => {
  const turns = new Turns();
  const failing = () => turns.take('a', () => Promise.reject(new Error('failed')));
  const results = await Promise.allSettled([
    failing(),
    turns.take('a', async () => 1),
    failing(),
    turns.take('a', async () => 2),
  ]);
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? result.value : (result.reason as Error).message)),
    ['failed', 1, 'failed', 2],
  );
  assert.equal(turns.size, 0);
});

test('owners have keys of their own', async () => {
  const turns = new TurnsOf();
  const [one, other] = [{}, {}];
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const works = [
    turns.take(one, 'a', () => first.promise.then(() => done.push('first'))),
    turns.take(one, 'a', async () => done.push('second')),
    turns.take(other, 'a', async () => done.push('of the other')),
  ];
  await works[2];
  first.resolve();
  await Promise.all(works);
  assert.deepEqual(done, ['of the other', 'first', 'second']);
});
