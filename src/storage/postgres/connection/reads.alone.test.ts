import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../../../errors/fail.ts';
import type { Database } from './database.ts';
import { sql, withDatabase } from './testing/open.ts';

const isTimeout = (error: unknown) => error instanceof ServiceError && error.key === 'timeout';

async function sizesOf(pages: AsyncIterable<readonly unknown[]>): Promise<number[]> {
  const sizes: number[] = [];
  for await (const page of pages) sizes.push(page.length);
  return sizes;
}

test('pages come to the end, in order, with values bound', () =>
  withDatabase(async ({ database }) => {
    const numbers = 'SELECT i FROM generate_series(1, $1::int) i';
    assert.deepEqual(await sizesOf(database.pages(sql(numbers, 25), 's', 10)), [10, 10, 5]);
    assert.deepEqual(await sizesOf(database.pages(sql(numbers, 20), 's', 10)), [10, 10]);
    assert.deepEqual(await sizesOf(database.pages(sql(numbers, 0), 's', 10)), []);
    await assert.rejects(sizesOf(database.pages(sql('SELECT missing'), 's', 10)), { code: '42703' });
    await assert.rejects(sizesOf(database.pages(sql('SELECT 10 / (5 - i) FROM generate_series(1, 9) i'), 's', 2)), {
      code: '22012',
    });
  }));

test('pages that are returned early give their connection back, and their statement ends', () =>
  withDatabase(
    async ({ database, admin }) => {
      for (let round = 0; round < 4; round++) {
        const slow = 'SELECT i, CASE WHEN i > 10 THEN pg_sleep(0.3)::text END FROM generate_series(1, 1000) i';
        const began = performance.now();
        for await (const page of database.pages(sql(slow), 's', 10)) {
          assert.equal(page.length, 10);
          break;
        }
        assert.ok(performance.now() - began < 1500);
      }
      const unread = database.pages(sql('SELECT 1'), 's', 10);
      await unread.return(undefined);
      await database.long(sql('SELECT 1'), 's');
      const busy = await admin(
        `SELECT state FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`,
      );
      assert.deepEqual(busy, []);
    },
    { connections: 6, timeLimit: 3000 },
  ));

test('the time limit counts the work of all pages, not the pauses of the caller', () =>
  withDatabase(
    async ({ database }) => {
      let pages = 0;
      for await (const _ of database.pages(sql('SELECT i FROM generate_series(1, 30) i'), 's', 10)) {
        pages += 1;
        await delay(250);
      }
      assert.equal(pages, 3);
      const slow = 'SELECT pg_sleep(0.03) FROM generate_series(1, 100)';
      await assert.rejects(sizesOf(database.pages(sql(slow), 's', 5)), isTimeout);
    },
    { timeLimit: 500 },
  ));

test('a long read ends at the time limit, and its connection goes on', () =>
  withDatabase(
    async ({ database }) => {
      await assert.rejects(database.long(sql('SELECT pg_sleep(5)'), 's'), isTimeout);
      assert.deepEqual(await database.long(sql('SELECT 1'), 's'), [[1]]);
    },
    { timeLimit: 300 },
  ));

test('a long read that nobody waits for ends in the database too, and its connection goes on', () =>
  withDatabase(
    async ({ database, admin }) => {
      const until = new AbortController();
      const read = database.long(sql("SELECT pg_sleep(60), 'unwanted'"), 's', undefined, until.signal);
      const unwanted = () =>
        admin(
          `SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%''unwanted''%' AND pid <> pg_backend_pid()`,
        );
      while ((await unwanted()).length === 0) await delay(10);
      until.abort();
      await assert.rejects(read, isTimeout);
      assert.deepEqual(await unwanted(), []);
      for (let times = 0; times < 20; times++) assert.deepEqual(await database.long(sql('SELECT 1'), 's'), [[1]]);
      await assert.rejects(database.long(sql('SELECT 1'), 's', undefined, until.signal), isTimeout);
    },
    { timeLimit: 60_000 },
  ));

test('a read that is not short after all, or meets a lock, does not hold up those behind it', () =>
  withDatabase(async ({ database }) => {
    const slow = database.short(sql('SELECT 2, pg_sleep(1.3)::text'), 's');
    await delay(1100);
    const began = performance.now();
    await database.short(sql('SELECT 1'));
    assert.ok(performance.now() - began < 150);
    assert.deepEqual(await slow, [[2, '']]);

    await database.atomically([sql('CREATE TABLE t (a int)')]);
    let read: Promise<unknown> | undefined;
    await database.transact(async (session) => {
      await session.query(sql('LOCK TABLE t'));
      read = database.short(sql('SELECT count(*) FROM t'), 's');
      await delay(200);
      const again = performance.now();
      await database.short(sql('SELECT 1'));
      assert.ok(performance.now() - again < 150);
    });
    assert.deepEqual(await read, [[0]]);
  }));

test('reads of a table that somebody has locked hold up no others, however many come, and are short again after it', () =>
  withDatabase(async ({ database }) => {
    const counting = sql('SELECT count(*) FROM t');
    await database.atomically([sql('CREATE TABLE t (a int)')]);
    const long = mock.method(database, 'long');
    const reads: Promise<unknown>[] = [];
    await database.transact(async (session) => {
      await session.query(sql('LOCK TABLE t'));
      for (let n = 0; n < 60; n++) {
        reads.push(database.short(counting, 's'));
        await delay(10);
      }
      // The first ones block others until their 100 ms have passed.
      assert.ok(long.mock.callCount() >= 30, `${long.mock.callCount()} on connections of their own`);
      await Promise.all([database.short(sql('SELECT 1')), database.probe(), database.long(sql('SELECT 1'), 's')]);
    });
    assert.deepEqual(
      await Promise.all(reads),
      reads.map(() => [[0]]),
    );
    for (const until = performance.now() + 5_000; ; await delay(50)) {
      const calls = long.mock.callCount();
      await database.short(counting, 's');
      if (long.mock.callCount() === calls) break;
      assert.ok(performance.now() < until, 'it is short again');
    }
  }));

test('a system cannot take all connections for long reads; another is served at once', () =>
  withDatabase(async ({ database }) => {
    const sleep = sql('SELECT pg_sleep(0.5)');
    const greedy = Array.from({ length: 12 }, () => database.long(sleep, 'greedy'));
    await delay(100);
    const began = performance.now();
    await database.long(sql('SELECT 1'), 'modest');
    assert.ok(performance.now() - began < 300);
    await Promise.all(greedy);
  }));

test('who holds the fewest connections comes first, and a wait ends at the time limit', () =>
  withDatabase(
    async ({ database }) => {
      const order: string[] = [];
      const read = (db: Database, system: string, seconds: number) =>
        db.long(sql('SELECT pg_sleep($1)', seconds), system).then(
          () => void order.push(system),
          (error) => void order.push(isTimeout(error) ? `${system} late` : `${error}`),
        );
      // Three connections for long reads, of which `a` gets at most two.
      const all = [read(database, 'a', 0.3), read(database, 'a', 0.4), read(database, 'b', 0.1)];
      await delay(50);
      all.push(read(database, 'a', 0.9), read(database, 'c', 0.01));
      await Promise.all(all);
      assert.deepEqual(order, ['b', 'c', 'a', 'a', 'a']);
      order.length = 0;
      await Promise.all(Array.from({ length: 6 }, () => read(database, 'a', 0.8)));
      assert.deepEqual(order, ['a', 'a', 'a late', 'a late', 'a', 'a']);
    },
    { connections: 7, timeLimit: 1000 },
  ));
