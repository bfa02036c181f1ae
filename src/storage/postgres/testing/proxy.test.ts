import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { TestProxy } from './proxy.ts';
import { query, type TestDatabase, testDatabase } from './server.ts';

let database: TestDatabase;
let proxy: TestProxy;
before(async () => {
  database = await testDatabase();
  proxy = await TestProxy.before(database.url);
  await query(database.url, 'CREATE TABLE t (a int)');
});
beforeEach(() => query(database.url, 'TRUNCATE t'));
after(async () => {
  proxy.close();
  await database.drop();
});

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: proxy.url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

const count = async () => Number(((await query(database.url, 'SELECT count(*) FROM t'))[0] as { count: string }).count);

/** Returns whether the work ends within so many milliseconds. */
async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  );
  return Promise.race([ended, wait(ms, false)]);
}

test('passes all on; cuts; refuses and takes connections again on the same port', async () => {
  const client = await connected();
  const long = 'x'.repeat(300_000);
  const { rows } = await client.query('SELECT $1::text AS a', [long]);
  assert.equal(rows[0].a, long);
  assert.equal(proxy.cut(), 1);
  await assert.rejects(client.query('SELECT 1'));
  proxy.refuse();
  await assert.rejects(connected(), { code: 'ECONNREFUSED' });
  await proxy.accept();
  await (await connected()).query('SELECT 1');
});

test('silence: nothing passes, new connections hear nothing; what was kept arrives at its end', async () => {
  const client = await connected();
  proxy.silence();
  const pending = client.query('INSERT INTO t VALUES (1)');
  const dialled = connected();
  assert.equal(await endsWithin(pending, 150), false);
  assert.equal(await endsWithin(dialled, 50), false);
  assert.equal(await count(), 0);
  proxy.speak();
  await Promise.all([pending, dialled]);
  assert.equal(await count(), 1);
});

test('stranded connections are silent for ever, new ones work', async () => {
  const client = await connected();
  proxy.silence();
  const pending = client.query('SELECT 1');
  assert.ok(proxy.strand() >= 1);
  await (await connected()).query('SELECT 1');
  assert.equal(await endsWithin(pending, 100), false);
  proxy.cut();
  await assert.rejects(pending);
});

test('a slow line keeps the order', async () => {
  const client = await connected();
  proxy.delayMs = 40;
  try {
    const since = performance.now();
    const answers = await Promise.all([client.query('SELECT 1 AS n'), client.query('SELECT 2 AS n')]);
    assert.deepEqual(
      answers.map(({ rows }) => rows[0].n),
      [1, 2],
    );
    assert.ok(performance.now() - since >= 75, 'there and back');
  } finally {
    proxy.delayMs = 0;
  }
});

const ways: Record<string, (client: pg.Client) => Promise<unknown>> = {
  'a single statement': (client) => client.query('INSERT INTO t VALUES (1)'),
  'a single statement with values': (client) => client.query('INSERT INTO t VALUES ($1)', [1]),
  'a prepared statement': (client) => client.query({ name: 'put', text: 'INSERT INTO t VALUES ($1)', values: [1] }),
  'a transaction': async (client) => {
    await client.query('BEGIN');
    await client.query('INSERT INTO t VALUES ($1)', [1]);
    await client.query('COMMIT');
  },
  'a transaction at once': async (client) => {
    const sent = [client.query('BEGIN'), client.query('INSERT INTO t VALUES ($1)', [1]), client.query('COMMIT')];
    await Promise.all(sent.map((one) => one.catch(() => {})));
    await Promise.all(sent);
  },
};

for (const [name, write] of Object.entries(ways))
  for (const pipeline of [false, true])
    test(`breaks at the commit of ${name}, pipelined ${pipeline}`, async () => {
      for (const [point, rows] of [
        ['done', 1],
        ['sent', 1],
        ['before', 0],
      ] as const) {
        await query(database.url, 'TRUNCATE t');
        const client = new pg.Client({ connectionString: proxy.url, ...{ pipeline } });
        client.on('error', () => {});
        await client.connect();
        await client.query('BEGIN; SELECT 1; COMMIT');
        await client.query('SELECT * FROM t FOR UPDATE');
        const broken = proxy.broken.length;
        proxy.breakCommits({ point, times: 1, about: /INTO t\b/ });
        await assert.rejects(write(client), point);
        assert.equal(proxy.mend(), 0);
        assert.equal(proxy.broken.length, broken + 1);
        await wait(point === 'sent' ? 100 : 20);
        assert.equal(await count(), rows, point);
      }
    });

test('mute: it is carried out, and nothing is heard of it nor of the connection', async () => {
  const client = await connected();
  proxy.breakCommits({ point: 'mute', times: 1 });
  const pending = client.query('INSERT INTO t VALUES (1)');
  assert.equal(await endsWithin(pending, 100), false);
  assert.equal(await count(), 1);
  await (await connected()).query('INSERT INTO t VALUES (2)');
  proxy.cut();
  await assert.rejects(pending);
});
