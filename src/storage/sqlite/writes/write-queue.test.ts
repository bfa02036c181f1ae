import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { nextWriteOrder } from '../../../kernel/ids.ts';
import { Connection } from '../connection/connection.ts';
import { WriteQueue } from './write-queue.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-commit-'));
let connection: Connection;
let commits: WriteQueue;
let log: string[];
before(() => {
  connection = new Connection(join(directory, 'one.sqlite'), 'write');
  connection.execute('CREATE TABLE t (n)');
});
after(() => {
  connection.close();
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  connection.execute('DELETE FROM t');
  log = [];
  commits = new WriteQueue(connection, {
    began: () => {},
    appended: () => {},
    ended: () => {},
    undone: () => {},
    unflushed: () => {},
    committed: (writes) => log.push(`committed ${writes}`),
    rolledBack: () => log.push('rolled back'),
    dropped: () => log.push('dropped'),
    isInPlace: () => true,
    busy: () => log.push('busy'),
    whenBack: async () => {},
  });
});

const add = (n: number) => () => connection.run({ text: 'INSERT INTO t VALUES (?)', params: [n] });
const rows = () => connection.all({ text: 'SELECT n FROM t ORDER BY rowid', params: [] }).map(([n]) => n);

test('work that nobody waits for is done together, a fifth of a second after the first of it', async () => {
  commits.runBehind(add(1));
  await commits.run(add(2));
  commits.runBehind(add(3));
  assert.deepEqual(rows(), [2]);
  for (let n = 0; n < 400 && log.length < 2; n++) await wait(5);
  assert.deepEqual(rows(), [2, 1, 3]);
  assert.deepEqual(log, ['committed 1', 'committed 2']);
});

test('a write that is to see it takes it along, before all that waits', async () => {
  commits.runBehind(add(1));
  const early = commits.run(add(3));
  const seeing = commits.run(add(4), { afterAll: true });
  commits.runBehind(add(2));
  await Promise.all([early, seeing]);
  assert.deepEqual(rows(), [1, 2, 3, 4]);
  await wait(300);
  assert.deepEqual(log, ['committed 4']);
});

test('writes of one turn are done in the order in which they came to the process', async () => {
  const [first, second, third] = [nextWriteOrder(), nextWriteOrder(), nextWriteOrder()];
  const done = [third, first].map((order) => commits.run(add(order - first), { order }));
  await Promise.resolve();
  done.push(commits.run(add(1), { order: second }), commits.run(add(3)));
  await Promise.all(done);
  assert.deepEqual(rows(), [0, 1, 2, 3]);
});

test('work that is alone comes after the writes of its turn that came before it, and before those that came after', async () => {
  const [first, second, third] = [nextWriteOrder(), nextWriteOrder(), nextWriteOrder()];
  const last = commits.run(add(3), { order: third });
  const alone = commits.exclusiveIf(
    () => true,
    async () => rows(),
    second,
  );
  for (let steps = 20; steps > 0; steps--) await undefined;
  void commits.run(add(1), { order: first });
  assert.deepEqual(await alone, [1]);
  await last;
  assert.deepEqual(rows(), [1, 3]);
});

test('500 of it are done at once', async () => {
  for (let n = 0; n < 501; n++) commits.runBehind(add(n));
  for (let n = 0; n < 400 && log.length < 2; n++) await wait(5);
  assert.deepEqual(log, ['committed 500', 'committed 1']);
});

test('it is done when all ends', async () => {
  commits.runBehind(add(1));
  assert.deepEqual(rows(), []);
  for (let n = 0; n < 400 && log.length === 0; n++) await wait(5);
  assert.deepEqual(rows(), [1]);
  commits.runBehind(add(2));
  await commits.close();
  commits.runBehind(add(3));
  assert.deepEqual(rows(), [1, 2]);
  assert.deepEqual(log, ['committed 1', 'committed 1']);
});

test('beyond 10,000 that wait it is dropped, which is logged once until none waits', async () => {
  const flood = async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const alone = commits.exclusive(() => {
      begin();
      return ended;
    });
    await begun;
    for (let n = 0; n < 10_100; n++) commits.runBehind(add(n));
    end();
    await alone;
    for (let n = 0; n < 400 && log.at(-1) !== 'drained'; n++) {
      await wait(5);
      if (rows().length % 10_000 === 0) log.push('drained');
    }
    // The last commit is flushed.
    await commits.exclusive(async () => {});
    return log.splice(0).filter((line) => !line.startsWith('committed'));
  };
  assert.deepEqual(await flood(), ['dropped', 'drained']);
  assert.deepEqual(await flood(), ['dropped', 'drained']);
  assert.equal(rows().length, 20_000);
});

test('writes that take long share no commit: others have their turns in between', async () => {
  let turns = 0;
  const slow = (n: number) => () => {
    for (const until = performance.now() + 60; performance.now() < until; );
    add(n)();
    return turns;
  };
  const writes = [slow(1), slow(2), slow(3)].map((write) => commits.run(write));
  const count = () => {
    turns++;
    if (log.length < 3) setImmediate(count);
  };
  setImmediate(count);
  const seen = await Promise.all(writes);
  assert.deepEqual(rows(), [1, 2, 3]);
  assert.deepEqual(log, ['committed 1', 'committed 1', 'committed 1']);
  assert.ok(new Set(seen).size === 3);
});
