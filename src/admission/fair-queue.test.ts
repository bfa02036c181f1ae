import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { FairQueue } from './fair-queue.ts';

let queue: FairQueue;
let done: string[];
let release: () => void;
beforeEach(() => {
  queue = new FairQueue({ concurrency: 1, maxWaiting: 6 });
  done = [];
});

/** Occupies the queue until `release` is called. */
function block(): Promise<void> {
  return queue.run({ system: 'none', caller: '' }, () => new Promise<void>((resolve) => (release = resolve)));
}
/** Queues a task named by system and caller: `a1` is caller `1` of system `a`. */
const ask = (name: string) =>
  queue
    .run({ system: name[0], caller: name[1] as string }, async () => {
      done.push(name);
    })
    .catch((error: { key?: string }) => error.key);

/** A task that ends when told to. */
function hanging() {
  const ends: (() => void)[] = [];
  const hang = (system: string) => {
    const end = Promise.withResolvers<void>();
    ends.push(end.resolve);
    return queue.run({ system, caller: '' }, () => end.promise);
  };
  return { hang, ends };
}

test('systems take turns, and in each its callers, whatever the order in which they came', async () => {
  block();
  const all = ['a1', 'a1', 'a1', 'a2', 'b1', 'a1'].map(ask);
  release();
  await Promise.all(all);
  assert.deepEqual(done, ['a1', 'b1', 'a2', 'a1', 'a1', 'a1']);
});

test('the tasks of one caller run in the order in which they came', async () => {
  block();
  const tasks = ['first', 'second', 'third'].map((name) =>
    queue.run({ system: 'a', caller: '1' }, async () => {
      done.push(name);
    }),
  );
  release();
  await Promise.all(tasks);
  assert.deepEqual(done, ['first', 'second', 'third']);
});

test('where too many wait, one of the caller with most of the system with most is refused', async () => {
  block();
  const all = ['a1', 'a1', 'a1', 'a1', 'a2', 'a3'].map(ask);
  const more = ['b1', 'b2', 'a1', 'a4'].map(ask);
  release();
  assert.deepEqual(await Promise.all(all), [undefined, 'unavailable', 'unavailable', 'unavailable', undefined, undefined]);
  assert.deepEqual(await Promise.all(more), [undefined, undefined, 'unavailable', undefined]);
  assert.deepEqual(done.sort(), ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']);
});

test('work that fails leaves its turn to the next, and tells its own caller alone', async () => {
  const failing = queue.run({ system: 'a', caller: '1' }, () => {
    throw new Error('no memory');
  });
  const next = ask('a1');
  await assert.rejects(failing, /no memory/);
  assert.equal(await next, undefined);
  assert.deepEqual(done, ['a1']);
});

test('work for which nobody waits any more is not done when its turn comes', async () => {
  block();
  let isGone = false;
  const left = queue.run({ system: 'a', caller: '1', isAbandoned: () => isGone }, async () => done.push('left'));
  const next = ask('a1');
  isGone = true;
  release();
  await assert.rejects(left, { key: 'unavailable' });
  assert.equal(await next, undefined);
  assert.deepEqual(done, ['a1']);
});

test('a system has work of its own done whatever that of others waits for', async () => {
  queue = new FairQueue({ concurrency: 2, guaranteedPerSystem: 1, maxWaiting: 10 });
  const { hang, ends } = hanging();
  const under = ['a', 'a', 'a'].map(hang);
  assert.equal(await ask('b1'), undefined);
  const more = ['b1', 'b2', 'c1'].map(ask);
  await Promise.all(more);
  assert.deepEqual(done, ['b1', 'b1', 'c1', 'b2']);
  for (const end of ends) end();
  await Promise.all(under);
});

test('its own work goes on too where the turn of another system has come', async () => {
  queue = new FairQueue({ concurrency: 2, guaranteedPerSystem: 1, maxWaiting: 10 });
  const { hang, ends } = hanging();
  const [first, ...others] = [hang('x'), hang('a'), hang('a')];
  const second = ask('x1');
  ends[0]?.();
  await first;
  await second;
  assert.deepEqual(done, ['x1']);
  for (const end of ends) end();
  await Promise.all(others);
});
