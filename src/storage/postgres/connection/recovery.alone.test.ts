import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../../../errors/fail.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { type TestServer, testServer } from '../testing/server.ts';
import { connectDatabase } from './connect-database.ts';
import type { Database } from './database.ts';
import { CommitUnknown } from './map-error.ts';
import { sql, withDatabase } from './testing/open.ts';
import { Pooler } from './testing/pooler.ts';

const isUnavailable = (error: unknown) => error instanceof ServiceError && error.key === 'unavailable';
const sleep = sql('SELECT pg_sleep(0.5)');

/** Marks a promise that may reject before it is awaited. */
function watched<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}

test('idle connections that the server has cut are replaced unnoticed', () =>
  withDatabase(async ({ database, cut }) => {
    const all = () =>
      Promise.all([
        database.short(sql('SELECT 1')),
        database.long(sql('SELECT 1'), 's'),
        database.atomically([sql('SELECT 1'), sql('SELECT 2')]),
        database.transact((session) => session.query(sql('SELECT 1'))),
      ]);
    for (let round = 0; round < 3; round++) {
      await all();
      assert.ok((await cut('%')) >= 3);
      await delay(100);
    }
    await all();
  }));

test('reads whose connection is cut are done again; pages and transactions are unavailable', () =>
  withDatabase(async ({ database, cut }) => {
    const short = Array.from({ length: 4 }, () => database.short(sleep));
    await delay(150);
    assert.ok((await cut('%pg_sleep%', 'active')) >= 1);
    await Promise.all(short);

    const long = database.long(sleep, 's');
    await delay(150);
    assert.equal(await cut('%pg_sleep%', 'active'), 1);
    await long;

    const pages = database.pages(sql('SELECT i FROM generate_series(1, 100) i'), 's', 10);
    await pages.next();
    await delay(50);
    assert.equal(await cut('FETCH%'), 1);
    await assert.rejects(async () => {
      for await (const _ of pages);
    }, isUnavailable);

    const transaction = watched(database.transact((session) => session.query(sleep)));
    await delay(150);
    assert.equal(await cut('%pg_sleep%', 'active'), 1);
    await assert.rejects(transaction, (error) => isUnavailable(error) && !(error instanceof CommitUnknown));

    // A failure before the commit has no effect: the transaction is repeated.
    const before = database.atomically([sleep, sql('SELECT 1')]);
    await delay(150);
    assert.equal(await cut('%pg_sleep%', 'active'), 1);
    assert.equal((await before).length, 2);

    // Likewise a single statement that the server had not finished.
    const single = database.atomically([sleep]);
    await delay(150);
    assert.equal(await cut('%pg_sleep%', 'active'), 1);
    assert.equal((await single).length, 1);
    await database.atomically([sql('SELECT 1')]);
  }));

test('a line that breaks, or falls silent, fails what is under way, and what comes after goes on', () => {
  let line: Pooler | undefined;
  const via = async (url: string) => {
    line = await Pooler.before(url, { honest: true });
    return line.url;
  };
  return withDatabase(
    async ({ database }) => {
      const between = line as Pooler;
      await database.atomically([sql('CREATE TABLE t (a int)')]);
      const write = watched(database.atomically([sql('INSERT INTO t VALUES (1)'), sleep]));
      await delay(150);
      between.cut();
      await assert.rejects(write, CommitUnknown);
      assert.deepEqual(await database.short(sql('SELECT 1')), [[1]]);

      await database.atomically([sql('SELECT 1')]);
      between.silent = true;
      const began = performance.now();
      await assert.rejects(database.atomically([sql('SELECT 1')]), CommitUnknown);
      assert.ok(performance.now() - began < 6000);
      between.silent = false;
      assert.deepEqual(await database.long(sql('SELECT 1'), 's'), [[1]]);
    },
    { via, timeLimit: 1000 },
  ).finally(() => line?.close());
});

let server: TestServer;
before(async () => {
  server = await testServer();
});
after(() => server.close());

test('while the server is away requests fail at once; when it is back they go on soon', async () => {
  const made = await server.database();
  const database = await connectDatabase(made.url, { timeLimit: 5000 });
  try {
    for (const end of ['stop', 'kill'] as const) {
      const work = [database.short(sql('SELECT 1')), database.atomically([sql('SELECT 1')])];
      await Promise.all(work);
      await server[end]();
      const slowest = await slowestRefusal(database);
      assert.ok(slowest < 500, `${slowest} ms`);
      await server.start();
      const began = performance.now();
      while ((await database.short(sql('SELECT 1')).catch(() => null)) === null) await delay(20);
      await Promise.all([database.atomically([sql('SELECT 1')]), database.long(sql('SELECT 1'), 's')]);
      assert.ok(performance.now() - began < 1500);
    }
  } finally {
    await database.close();
    await made.drop();
  }
});

async function slowestRefusal(database: Database): Promise<number> {
  let slowest = 0;
  for (let round = 0; round < 5; round++) {
    const began = performance.now();
    await assert.rejects(database.short(sql('SELECT 1')), isUnavailable);
    await assert.rejects(database.long(sql('SELECT 1'), 's'), isUnavailable);
    await assert.rejects(database.atomically([sql('SELECT 1')]), isUnavailable);
    slowest = Math.max(slowest, performance.now() - began);
    await delay(60);
  }
  return slowest;
}

test('a server that cannot be used is reported in one line without secrets', async () => {
  const made = await server.database();
  const refused = async (change: (url: URL) => void, line: RegExp) => {
    const url = new URL(made.url);
    url.password = 'hush';
    change(url);
    const error = await connectDatabase(url.href, { timeLimit: 1000 }).catch((reason) => reason);
    assert.ok(error instanceof OperatorError, String(error));
    assert.match(error.message, line);
    assert.doesNotMatch(error.message, /hush|\n/);
  };
  try {
    await refused((url) => {
      url.port = '1';
    }, /at 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/);
    await refused((url) => {
      url.pathname = '/nowhere';
    }, /has no database "nowhere"/);
    await refused((url) => {
      url.username = 'nobody';
    }, /refuses the user "nobody"/);
    await server.query(`CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'`);
    await refused((url) => {
      url.pathname = '/latin';
    }, /must be UTF8, it is LATIN1/);
    await refused((url) => {
      url.searchParams.set('sslmode', 'verify-full');
    }, /does not support SSL/);
  } finally {
    await made.drop();
  }
});
