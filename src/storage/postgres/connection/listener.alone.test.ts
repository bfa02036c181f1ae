import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { TransactionOptions } from './database.ts';
import { Listener } from './listener.ts';
import { isTimeout } from './map-error.ts';
import { type Opened, sql, withDatabase } from './testing/open.ts';
import { Pooler } from './testing/pooler.ts';

async function withListener(
  { url, database }: Opened,
  work: (listener: Listener, events: string[]) => Promise<void>,
  lastReceivedAt = url,
): Promise<void> {
  const events: string[] = [];
  const listener = new Listener(lastReceivedAt, database, {
    channel: 'Some channel',
    report: () => events.push('report'),
    onNotification: (payload) => events.push(payload),
    onReliable: () => events.push('reliable'),
    onUnreliable: () => events.push('unreliable'),
  });
  assert.equal(listener.isReliable(), false);
  listener.start();
  try {
    await work(listener, events);
  } finally {
    await listener.close();
  }
  assert.equal(listener.isReliable(), false);
}

async function until(holds: () => boolean, limit = 3000): Promise<void> {
  const began = performance.now();
  while (!holds()) {
    assert.ok(performance.now() - began < limit, 'it takes too long');
    await delay(10);
  }
}

const notify = (payload: string) => sql('SELECT pg_notify($1, $2)', 'Some channel', payload);

test('notices come, each once, with the commit', () =>
  withDatabase((opened) =>
    withListener(opened, async (listener, events) => {
      await until(() => listener.isReliable());
      await opened.database.transact(async (session) => {
        await session.query(notify('one'));
        await delay(100);
        assert.deepEqual(events, ['reliable']);
      });
      await opened.database.atomically([notify('two')]);
      await opened.database.atomically([sql(`SELECT pg_notify('other', 'three')`)]);
      await until(() => events.length === 3);
      await delay(600);
      assert.deepEqual(events, ['reliable', 'one', 'two']);
      assert.equal(listener.isReliable(), true);
    }),
  ));

test('a listener that is cut says so, listens again by itself, and is sound again', () =>
  withDatabase((opened) =>
    withListener(opened, async (listener, events) => {
      for (let round = 1; round <= 3; round++) {
        await until(() => events.length === 2 * round - 1 && listener.isReliable());
        assert.equal(await opened.cut('SELECT 1'), 1);
        await until(() => !listener.isReliable());
      }
      await until(() => events.length === 7);
      assert.deepEqual(events, ['reliable', 'unreliable', 'reliable', 'unreliable', 'reliable', 'unreliable', 'reliable']);
    }),
  ));

test('a listener that gets no answer is not sound after half a second', () =>
  withDatabase(async (opened) => {
    const line = await Pooler.before(opened.url, { honest: true });
    try {
      await withListener(
        opened,
        async (listener, events) => {
          await until(() => listener.isReliable());
          line.silent = true;
          await until(() => !listener.isReliable(), 800);
          await until(() => events.at(-1) === 'unreliable');
          line.silent = false;
          await until(() => listener.isReliable(), 8000);
          assert.deepEqual(events, ['reliable', 'unreliable', 'reliable']);
        },
        line.url,
      );
    } finally {
      line.close();
    }
  }));

test('behind a pooler a listener is never sound, says so once, and leaves no session that listens', () =>
  withDatabase(async (opened) => {
    const pooler = await Pooler.before(opened.url);
    try {
      await withListener(
        opened,
        async (listener, events) => {
          await until(() => events.length > 0);
          await delay(300);
          assert.equal(listener.isReliable(), false);
          assert.deepEqual(events, ['report']);
          assert.doesNotMatch(pooler.sent, /LISTEN/);
        },
        pooler.url,
      );
    } finally {
      pooler.close();
    }
  }));

test('behind a pooler reads and transactions keep their limits', () => {
  let pooler: Pooler | undefined;
  const via = async (url: string) => {
    pooler = await Pooler.before(url);
    return pooler.url;
  };
  return withDatabase(
    async ({ database }) => {
      const sleep = sql('SELECT pg_sleep(3)');
      await assert.rejects(database.long(sleep, 's'), { key: 'timeout' });
      await assert.rejects(database.atomically([sleep]), isTimeout);
      await assert.rejects(
        database.transact((session) => session.query(sleep)),
        isTimeout,
      );
      await database.transact((session) => session.query(sql('SELECT pg_sleep(0.7)')), { timeLimit: 0 });
      for (let time = 0; time < 5; time++) {
        assert.deepEqual(await database.short(sql('SELECT $1::int', 1)), [[1]]);
        assert.deepEqual(await database.long(sql('SELECT $1::int', 1), 's'), [[1]]);
      }
      const idleLimit = async (options?: TransactionOptions) =>
        (await database.transact((session) => session.query(sql(`SHOW idle_in_transaction_session_timeout`)), options))
          .rows[0]?.[0];
      assert.deepEqual([await idleLimit(), await idleLimit({ idleLimit: 0 })], ['1min', '0']);
      const pages = [];
      for await (const page of database.pages(sql('SELECT i FROM generate_series(1, 5) i'), 's', 2)) pages.push(page.length);
      assert.deepEqual(pages, [2, 2, 1]);
      const kept = await database.short(sql('SELECT count(*) FROM pg_prepared_statements'));
      assert.deepEqual(kept, [[0]]);
    },
    { via, timeLimit: 500 },
  ).finally(() => pooler?.close());
});
