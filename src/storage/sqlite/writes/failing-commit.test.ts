/** Whatever fault a commit meets, each of its writes is answered, and later ones are executed. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isInDoubt, isUnavailable } from '../../../errors/fail.ts';
import { Connection } from '../connection/connection.ts';
import { catalogMigrations, migrate } from '../schema/migrations.ts';
import { WriteQueue, type WriteQueueEvents } from './write-queue.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-failing-'));
let connection: Connection;
let commits: WriteQueue;
let dropped: unknown[];
let back: PromiseWithResolvers<void>;
const failing = new Map<keyof WriteQueueEvents, unknown>();
const ioError = () => Object.assign(new Error('disk I/O error'), { errcode: 10 | (4 << 8) });

before(() => {
  connection = new Connection(join(directory, 'one.sqlite'), 'write');
  migrate(connection.db, catalogMigrations, 'the test');
  connection.execute('CREATE TABLE t (n)');
});
after(() => {
  connection.close();
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  connection.execute('DELETE FROM t');
  connection.execute('PRAGMA max_page_count = 1000000');
  failing.clear();
  dropped = [];
  back = Promise.withResolvers();
  const meets = (event: keyof WriteQueueEvents) => {
    if (failing.has(event)) throw failing.get(event);
  };
  commits = new WriteQueue(connection, {
    began: () => meets('began'),
    appended: () => {},
    ended: () => {},
    undone: () => {},
    unflushed: () => {},
    committed: () => meets('committed'),
    rolledBack: () => meets('rolledBack'),
    isInPlace: (withinMs) => failing.get('isInPlace') !== (withinMs === undefined ? 'after' : 'before'),
    dropped: (error) => dropped.push(error),
    busy: () => meets('busy'),
    whenBack: () => back.promise,
  });
});

const add = (n: unknown) => () => connection.run({ text: 'INSERT INTO t VALUES (?)', params: [n as number] });
const rows = () => connection.all({ text: 'SELECT n FROM t ORDER BY rowid', params: [] }).map(([n]) => n);
const fillDisk = () => {
  const [pages] = connection.first({ text: 'PRAGMA page_count', params: [] }) as [number];
  connection.execute(`PRAGMA max_page_count = ${pages}`);
};
const large = 'x'.repeat(100_000);

/** Makes SQLite's COMMIT fail once. */
function failCommit(error: unknown): void {
  const { execute } = connection;
  connection.execute = (text) => {
    if (text !== 'COMMIT') return execute.call(connection, text);
    connection.execute = execute;
    throw connection.mapError(error);
  };
}

test('whatever the store throws in its own part, all writes are answered and the next ones done', async () => {
  for (const event of ['began', 'committed', 'rolledBack'] as const)
    for (const error of [ioError(), new TypeError('a fault of ours')]) {
      failing.set(event, error);
      if (event === 'rolledBack') failing.set('began', error);
      const answers = await Promise.allSettled([commits.run(add(1)), commits.run(add(2))]);
      for (const answer of answers) {
        if (event === 'committed') assert.equal(answer.status, 'fulfilled');
        else if (answer.status === 'rejected') assert.equal(isUnavailable(answer.reason), error instanceof TypeError === false);
        else assert.fail('it cannot have been done');
      }
      failing.clear();
      await commits.run(add(3));
      connection.execute('DELETE FROM t');
    }
});

test('a COMMIT that fails undoes all and says so; the log is sealed', async () => {
  const changes = () => connection.first({ text: 'SELECT changes FROM rds_catalog', params: [] })?.[0] as number;
  const before = changes();
  failCommit(ioError());
  for (const { status, reason } of (await Promise.allSettled([
    commits.run(add(1)),
    commits.run(add(2)),
  ])) as PromiseRejectedResult[])
    assert.ok(status === 'rejected' && isUnavailable(reason));
  assert.deepEqual(rows(), []);
  assert.equal(changes(), before + 1);
  await commits.run(add(3));
  assert.deepEqual(rows(), [3]);
});

test('what was written to a file that was taken away meanwhile is in doubt', async () => {
  failing.set('isInPlace', 'after');
  await assert.rejects(commits.run(add(1)), isInDoubt);
  await assert.rejects(
    commits.inOneTransaction(async () => add(2)()),
    isInDoubt,
  );
});

test('nothing is written to a file that was taken away before the commit', async () => {
  failing.set('isInPlace', 'before');
  await assert.rejects(commits.run(add(1)), isUnavailable);
  await assert.rejects(
    commits.inOneTransaction(async () => add(2)()),
    isUnavailable,
  );
  assert.deepEqual(rows(), []);
});

test('many writes in one commit: what fails is undone and told, and others go on', async () => {
  fillDisk();
  const whole = commits.inOneTransaction(async () => {
    add(1)();
    add(large)();
  });
  const other = commits.run(add(2));
  await assert.rejects(whole, isUnavailable);
  await other;
  assert.deepEqual(rows(), [2]);
  failCommit(ioError());
  await assert.rejects(
    commits.inOneTransaction(async () => add(3)()),
    isUnavailable,
  );
  assert.deepEqual(rows(), [2]);
});

test('a disk that is full refuses what does not fit; work that nobody waits for is kept until the store is back', async () => {
  fillDisk();
  commits.runBehind(add(1));
  commits.runBehind(add(large));
  await wait(300);
  await assert.rejects(commits.run(add(large)), isUnavailable);
  await commits.run(add(2));
  assert.deepEqual(rows(), [2]);
  connection.execute('PRAGMA max_page_count = 1000000');
  back.resolve();
  for (let n = 0; n < 200 && rows().length < 3; n++) await wait(5);
  assert.deepEqual(rows(), [2, 1, large]);
  assert.deepEqual(dropped, []);
});

test('work that nobody waits for is reported where it fails for good, or the end comes first', async () => {
  commits.runBehind(() => {
    connection.rollback();
    throw new TypeError('a fault of ours');
  });
  for (let n = 0; n < 200 && dropped.length === 0; n++) await wait(5);
  assert.match(String(dropped[0]), /a fault of ours/);
  fillDisk();
  commits.runBehind(add(large.repeat(20)));
  await commits.close();
  assert.equal(dropped.length, 2);
  await assert.rejects(commits.run(add(1)), isUnavailable);
});
