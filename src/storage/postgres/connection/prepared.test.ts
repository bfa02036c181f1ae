import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isForgotten } from './errors.ts';
import { PreparedNames, Texts } from './prepared.ts';
import { sql, withDatabase } from './testing/open.ts';

const names = 'SELECT count(*) FROM pg_prepared_statements';

test('a text is kept from its second time on, under a name that is never used again', () => {
  const forgotten: string[] = [];
  const texts = new Texts();
  const prepared = new PreparedNames(texts, (name) => forgotten.push(name));
  assert.equal(prepared.of('SELECT 1'), undefined);
  const name = prepared.of('SELECT 1');
  assert.equal(typeof name, 'string');
  assert.equal(prepared.of('SELECT 1'), name);
  prepared.drop('SELECT 1', 'another');
  assert.equal(prepared.of('SELECT 1'), name);
  prepared.drop('SELECT 1', name as string);
  assert.deepEqual(forgotten, [name]);
  assert.notEqual(prepared.of('SELECT 1'), name);
  // Another connection of the process knows by now that it is repeated.
  assert.notEqual(new PreparedNames(texts, () => {}).of('SELECT 1'), undefined);
});

test('what changes the schema or the session is not kept, nor what is very long', () => {
  const prepared = new PreparedNames(new Texts(), () => {});
  for (const text of ['CREATE TABLE t (a int)', 'SET a.b = 1', 'LISTEN c', `SELECT '${'x'.repeat(60_000)}'`]) {
    for (let time = 0; time < 3; time++) assert.equal(prepared.of(text), undefined);
  }
});

test('no more than 500 statements and 2 MB of text are kept; who was used last stays', () => {
  const forgotten: string[] = [];
  const prepared = new PreparedNames(new Texts(), (name) => forgotten.push(name));
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
    await database.alone((session) => session.query(sql('DEALLOCATE ALL')));
    assert.deepEqual((await database.atomically([touch, sql('SELECT 1')]))[0]?.rows, [[5]]);
  }));

test('in a transaction that decides, a forgotten statement fails it, and the next one goes on', () =>
  withDatabase(
    async ({ database }) => {
      const read = sql('SELECT $1::int', 1);
      const run = () => database.transact((session) => session.query(read));
      for (let time = 0; time < 3; time++) await run();
      await database.alone((session) => session.query(sql('DEALLOCATE ALL')));
      await assert.rejects(run(), isForgotten);
      assert.deepEqual((await run()).rows, [[1]]);
    },
    { connections: 6 },
  ));
