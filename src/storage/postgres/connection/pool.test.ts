import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '../../../errors/fail.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { WRITE_LOCK_LIMIT_MS } from './connect.ts';
import { isLockTimeout, isSchemaStale, StatementFailed } from './map-error.ts';
import { sql, withDatabase } from './testing/open.ts';
import { violatedConstraint } from './value-errors.ts';

test('values come as the embedded engine has them', () =>
  withDatabase(async ({ database }) => {
    const text = `SELECT 1, $1::float8, $2::bigint, true, false, $3::text, $4::json, NULL, 'Infinity'::float8, 'NaN'::float8, 1e300::float8`;
    const [row] = await database.short(sql(text, 0.1, 1_700_000_000_000, 'א"\\', '{"b": 1.0,  "a":[]}'));
    assert.deepEqual(row, [1, 0.1, 1_700_000_000_000, 1, 0, 'א"\\', '{"b": 1.0,  "a":[]}', null, Infinity, NaN, 1e300]);
  }));

test('reads under way together are answered each with its own rows, and fail each alone', () =>
  withDatabase(async ({ database }) => {
    const reads = Array.from({ length: 300 }, (_, index) =>
      database.short(index % 10 === 3 ? sql('SELECT missing') : sql('SELECT $1::int + 1', index)),
    );
    const answers = await Promise.allSettled(reads);
    answers.forEach((answer, index) => {
      if (index % 10 === 3) assert.ok(answer.status === 'rejected' && isSchemaStale(answer.reason));
      else assert.deepEqual(answer.status === 'fulfilled' && answer.value, [[index + 1]]);
    });
  }));

test('a transaction in one go takes effect as a whole or not at all, with the limits of the session or its own', () =>
  withDatabase(async ({ database }) => {
    for (const lockLimit of [0, WRITE_LOCK_LIMIT_MS]) {
      const atomically = (...statements: Statement[]) => database.atomically(statements, undefined, lockLimit);
      const table = `t${lockLimit}`;
      const insert = (value: string) => sql(`INSERT INTO ${table} VALUES ($1)`, value);
      const [, inserted] = await atomically(
        sql(`CREATE TABLE ${table} (a text PRIMARY KEY)`),
        sql(`INSERT INTO ${table} VALUES ($1), ('y')`, 'x'),
      );
      assert.equal(inserted?.affected, 2);
      for (let round = 0; round < 4; round++) {
        const failed = await atomically(insert(`n${round}`), insert('x'), sql('SELECT $1::int', 1)).catch((error) => error);
        assert.ok(failed instanceof StatementFailed);
        assert.equal(failed.index, 1);
        assert.equal(violatedConstraint(failed), `${table}_pkey`);
      }
      // The statement after the failed one was sent, but not carried out.
      assert.deepEqual((await atomically(insert('z'), sql('SELECT $1::int', 1)))[1]?.rows, [[1]]);
      const alone = await atomically(insert('x')).catch((error) => error);
      assert.ok(alone instanceof StatementFailed && alone.index === 0);
      const late = sql(`CREATE TABLE l${lockLimit} (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)`);
      await atomically(late);
      const twice = sql(`INSERT INTO l${lockLimit} VALUES (1)`);
      const uncommitted = await atomically(twice, twice).catch((error) => error);
      assert.ok(uncommitted instanceof StatementFailed && uncommitted.index === 2);
      assert.deepEqual(
        await database.short(sql(`SELECT (SELECT count(*) FROM ${table}), (SELECT count(*) FROM l${lockLimit})`)),
        [[3, 0]],
      );
      assert.deepEqual(await atomically(), []);
    }
  }));

test('transactions are isolated as the writes expect, whatever the database sets', () =>
  withDatabase(async ({ url, database, admin }) => {
    const { pathname } = new URL(url);
    await admin(`ALTER DATABASE "${pathname.slice(1)}" SET default_transaction_isolation = 'serializable'`);
    assert.deepEqual(await admin('SHOW transaction_isolation'), [{ transaction_isolation: 'serializable' }]);
    for (const lockLimit of [0, WRITE_LOCK_LIMIT_MS]) {
      const [shown] = await database.atomically([sql('SHOW transaction_isolation'), sql('SELECT 1')], undefined, lockLimit);
      assert.deepEqual(shown?.rows, [['read committed']]);
    }
  }));

test('a transaction of too many values sends nothing', () =>
  withDatabase(async ({ database }) => {
    await database.atomically([sql('CREATE TABLE t (a text)')]);
    const many = { text: 'SELECT 1', params: new Array(70_000).fill(1) };
    await assert.rejects(database.atomically([sql('INSERT INTO t VALUES (1)'), many]), /too many/);
    assert.deepEqual(await database.short(sql('SELECT count(*) FROM t')), [[0]]);
  }));

test('a transaction that decides is committed, or rolled back when it throws', () =>
  withDatabase(async ({ database }) => {
    await database.dedicated((session) => session.query(sql('CREATE TABLE t (a int)')));
    const five = await database.transact(async (session) => {
      await Promise.all([session.query(sql('INSERT INTO t VALUES (1)')), session.query(sql('INSERT INTO t VALUES (2)'))]);
      return 5;
    });
    assert.equal(five, 5);
    const thrown = database.transact(async (session) => {
      await session.query(sql('INSERT INTO t VALUES (3)'));
      throw new Error('undo');
    });
    await assert.rejects(thrown, /undo/);
    const swallowed = database.transact(async (session) => {
      await session.query(sql('INSERT INTO t VALUES (4)'));
      await session.query(sql('SELECT missing')).catch(() => {});
    });
    await assert.rejects(swallowed, /rolled back/);
    assert.deepEqual(await database.short(sql('SELECT count(*) FROM t')), [[2]]);
  }));

test('a transaction has its own limits, and the next one the usual ones again', () =>
  withDatabase(
    async ({ database }) => {
      await database.dedicated((session) => session.query(sql('CREATE TABLE t (a int)')));
      await database.transact((session) => session.query(sql('SELECT pg_sleep(0.6)')), { timeLimit: 0 });
      await database.dedicated((session) => session.query(sql('SELECT pg_sleep(0.6)')), { timeLimit: 0 });
      const late = await database.transact((session) => session.query(sql('SELECT pg_sleep(2)'))).catch((error) => error);
      // A write that exceeds its time limit was not done.
      assert.ok(late instanceof ServiceError && late.key === 'unavailable');
      await database.transact(async (session) => {
        await session.query(sql('LOCK TABLE t'));
        const waits = database.transact((other) => other.query(sql('LOCK TABLE t')), { lockLimit: 50 });
        await assert.rejects(waits, isLockTimeout);
      });
    },
    { timeLimit: 400 },
  ));

test('transactions of one system do not keep those of another waiting, however they are carried out', () =>
  withDatabase(async ({ database }) => {
    const busy = Array.from({ length: 6 }, (_, n) =>
      n % 2 > 0
        ? database.transact((session) => session.query(sql('SELECT pg_sleep(0.4)')), { system: 'busy' })
        : database.atomically([sql('SELECT pg_sleep(0.4)')], 'busy'),
    );
    const other = database.atomically([sql('SELECT 1')], 'other').then(() => 'other');
    assert.equal(await Promise.race([other, ...busy.map((one) => one.then(() => 'busy'))]), 'other');
    await Promise.all(busy);
  }));

test('no more connections than were allowed, and none at the end', async () => {
  let left: unknown;
  await withDatabase(
    async ({ database, admin }) => {
      const work = Array.from({ length: 60 }, (_, index) => [
        database.short(sql('SELECT pg_sleep(0.002)')),
        database.long(sql('SELECT pg_sleep(0.005)'), `s${index % 3}`),
        database.atomically([sql('SELECT pg_sleep(0.005)')]),
      ]);
      await Promise.all(work.flat());
      const [row] = await admin(
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
      left = row;
    },
    { connections: 8 },
  );
  assert.deepEqual(left, { n: 7 });
});

test('nothing is taken on after the end', () =>
  withDatabase(async ({ database }) => {
    await database.close();
    const isUnavailable = (error: unknown) => error instanceof ServiceError && error.key === 'unavailable';
    await assert.rejects(database.short(sql('SELECT 1')), isUnavailable);
    await assert.rejects(database.long(sql('SELECT 1'), 's'), isUnavailable);
    await assert.rejects(database.atomically([sql('SELECT 1')]), isUnavailable);
    await assert.rejects(database.pages(sql('SELECT 1'), 's', 10).next(), isUnavailable);
  }));

test('with the fewest connections another transaction can be done within one', () =>
  withDatabase(
    async ({ database }) => {
      const within = () => database.transact(async (session) => (await session.query(sql('SELECT 2'))).rows);
      assert.deepEqual(await database.transact(within), [[2]]);
    },
    { connections: 6 },
  ));
