import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Statement } from '../../sql/sql-writer.ts';
import { WRITE_LOCK_LIMIT_MS } from './connect.ts';
import { isStatementForgotten } from './map-error.ts';
import { PreparedStatements, RecentTexts } from './prepared-statements.ts';
import { sql, withDatabase } from './testing/open.ts';

const names = 'SELECT count(*) FROM pg_prepared_statements';

test('a text is kept from its second time on, under a name that is never used again', () => {
  const forgotten: string[] = [];
  const texts = new RecentTexts();
  const prepared = new PreparedStatements(texts, (name) => forgotten.push(name));
  assert.equal(prepared.of('SELECT 1'), undefined);
  const first = prepared.of('SELECT 1');
  assert.ok(first);
  assert.equal(prepared.of('SELECT 1'), first);
  prepared.drop('SELECT 1', { ...first });
  assert.equal(prepared.of('SELECT 1'), first);
  prepared.drop('SELECT 1', first);
  assert.deepEqual(forgotten, [first.name]);
  assert.notEqual(prepared.of('SELECT 1')?.name, first.name);
  // For another connection of the process the text counts as repeated.
  assert.notEqual(new PreparedStatements(texts, () => {}).of('SELECT 1'), undefined);
});

test('what changes the schema or the session is not kept, nor what is very long', () => {
  const prepared = new PreparedStatements(new RecentTexts(), () => {});
  for (const text of ['CREATE TABLE t (a int)', 'SET a.b = 1', 'LISTEN c', `SELECT '${'x'.repeat(60_000)}'`]) {
    for (let time = 0; time < 3; time++) assert.equal(prepared.of(text), undefined);
  }
});

test('no more than 500 statements and 2 MB of text are kept; who was used last stays', () => {
  const forgotten: string[] = [];
  const prepared = new PreparedStatements(new RecentTexts(), (name) => forgotten.push(name));
  const of = (text: string) => prepared.of(text) ?? prepared.of(text);
  const first = of('SELECT 0');
  for (let n = 1; n <= 510; n++) {
    of(`SELECT ${n}`);
    assert.equal(of('SELECT 0'), first);
  }
  assert.equal(forgotten.length, 11);
  for (let n = 0; n < 60; n++) of(`SELECT '${n}${'x'.repeat(40_000)}'`);
  assert.notEqual(of('SELECT 0'), first);
});

test('the server forgets what is no longer kept', () =>
  withDatabase(
    async ({ database }) => {
      await database.transact(async (session) => {
        for (let n = 0; n < 530; n++) {
          const twice = [session.query(sql(`SELECT ${n}`)), session.query(sql(`SELECT ${n}`))];
          assert.deepEqual(
            (await Promise.all(twice)).map(({ rows }) => rows),
            [[[n]], [[n]]],
          );
        }
        const { rows } = await session.query(sql(names));
        assert.deepEqual(rows, [[500]]);
      });
    },
    { connections: 6 },
  ));

test('statements go on after their table has changed under them, or the server has forgotten them', () =>
  withDatabase(async ({ database, admin }) => {
    await database.atomically([sql('CREATE TABLE t (a text)'), sql(`INSERT INTO t VALUES ('5')`)]);
    const read = sql('SELECT a FROM t WHERE $1::int = 1', 1);
    const touch = sql('UPDATE t SET a = a RETURNING a');
    for (let time = 0; time < 3; time++) {
      assert.deepEqual(await database.short(read), [['5']]);
      assert.deepEqual(await database.long(read, 's'), [['5']]);
      assert.deepEqual((await database.atomically([touch, sql('SELECT 1')]))[0]?.rows, [['5']]);
    }
    await admin('ALTER TABLE t ALTER a TYPE float8 USING a::float8');
    const reads = await Promise.all(Array.from({ length: 20 }, () => database.short(read)));
    for (const rows of reads) assert.deepEqual(rows, [[5]]);
    assert.deepEqual(await database.long(read, 's'), [[5]]);
    assert.deepEqual((await database.atomically([touch, sql('SELECT 1')]))[0]?.rows, [[5]]);

    await database.short(sql('DEALLOCATE ALL'));
    assert.deepEqual(await database.short(read), [[5]]);
    await database.transact((session) => session.query(sql('DEALLOCATE ALL')));
    assert.deepEqual((await database.atomically([touch, sql('SELECT 1')]))[0]?.rows, [[5]]);
  }));

test('statements go on after a column that they bind values to has come back with another type', () =>
  withDatabase(async ({ database, admin }) => {
    await database.atomically([sql('CREATE TABLE t (n int, a text)')]);
    const add = (value: string | number) => sql('INSERT INTO t (n, a) VALUES ($1, $2)', 1, value);
    const find = (value: string | number) => sql('SELECT a FROM t WHERE a = $1', value);
    const types = ['float8', 'text', 'boolean', 'text', 'float8', 'boolean'];
    const values: Record<string, [value: string | number, shown: unknown]> = {
      text: ['x', 'x'],
      float8: [1.5, 1.5],
      boolean: ['true', 1],
    };
    const use = async (type: string) => {
      const [value, shown] = values[type] as [string | number, unknown];
      for (let time = 0; time < 3; time++) {
        await database.atomically([add(value), sql('SELECT 1')]);
        await database
          .transact((session) => session.query(add(value)))
          .catch(async (error) => {
            assert.ok(isStatementForgotten(error), String(error));
            await database.transact((session) => session.query(add(value)));
          });
        const found = await Promise.all(Array.from({ length: 5 }, () => database.short(find(value))));
        for (const rows of found) assert.deepEqual(rows.at(-1), [shown]);
        assert.deepEqual((await database.long(find(value), 's')).at(-1), [shown]);
      }
    };
    await use('text');
    for (const type of types) {
      await admin(`ALTER TABLE t DROP a; ALTER TABLE t ADD a ${type}`);
      await use(type);
    }
    // A statement that has never succeeded is not outdated.
    const wrong = sql('SELECT $1::int', 'x');
    for (let time = 0; time < 3; time++)
      await assert.rejects(
        database.short(wrong),
        (error: Error & { code?: string }) => error.code === '22P02' && !isStatementForgotten(error),
      );
  }));

test('in a transaction that decides, a forgotten statement fails it, and the next one goes on', () =>
  withDatabase(
    async ({ database }) => {
      const read = sql('SELECT $1::int', 1);
      const run = () => database.transact((session) => session.query(read));
      for (let time = 0; time < 3; time++) await run();
      await database.transact((session) => session.query(sql('DEALLOCATE ALL')));
      await assert.rejects(run(), isStatementForgotten);
      assert.deepEqual((await run()).rows, [[1]]);
    },
    { connections: 6 },
  ));

test('a transaction of more statements than are kept leaves none of the others on the server', () =>
  withDatabase(
    async ({ database }) => {
      const send = (statements: readonly Statement[]) => database.atomically(statements, undefined, WRITE_LOCK_LIMIT_MS);
      const all = Array.from({ length: 600 }, (_, n) => sql(`SELECT ${n}`));
      for (let time = 0; time < 3; time++)
        for (const statements of [all, [...all].reverse()])
          assert.deepEqual(
            (await send(statements)).map(({ rows: [row] }) => `SELECT ${row?.[0]}`),
            statements.map(({ text }) => text),
          );
      const [, kept] = await send([sql('SELECT -1'), sql(names)]);
      assert.deepEqual(kept?.rows, [[500]]);
    },
    { connections: 6 },
  ));
