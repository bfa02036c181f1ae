import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { fieldOf, tableOf } from '../../schema/model.ts';
import { type Condition, ConditionFailed, type Mutation } from '../port.ts';
import { tableChanges } from '../sql/testing/tables.ts';
import type { PostgresStore } from './store.ts';
import { type StoreProcess, twoProcesses } from './testing/store-process.ts';

const none = () => assert.fail('records are written by the stores alone');
const operations = {
  createRecord: none,
  updateRecord: none,
  deleteRecord: none,
  getRow: none,
  findRecords: none,
  updateSchema: none,
};

describe('conditions of writes, two processes', () => {
  let a: StoreProcess<unknown>;
  let b: StoreProcess<unknown>;
  let sql: pg.Client;
  let url: string;
  let close: (() => Promise<void>) | undefined;

  before(async () => {
    const made = await twoProcesses(operations);
    ({ a, b, sql, close } = made);
    ({ url } = made.place);
    await a.store.write({ plan: () => ({ changes: tableChanges('Keyed', { name: 'String' }), mutations: [] }) });
    await b.follow();
  });
  after(() => close?.());

  const field = (store: PostgresStore, name: string) => fieldOf(tableOf(store.schema(), 'Keyed'), name);
  const insert = (store: PostgresStore, objectId: string, name: string): Mutation => ({
    kind: 'insert',
    table: tableOf(store.schema(), 'Keyed'),
    values: [
      [field(store, 'objectId'), objectId],
      [field(store, 'createdAt'), 1],
      [field(store, 'updatedAt'), 1],
      [field(store, 'name'), name],
    ],
  });
  const absent = (store: PostgresStore, name: string): Condition => ({
    kind: 'absent',
    table: tableOf(store.schema(), 'Keyed'),
    filter: { kind: 'compare', field: field(store, 'name'), op: 'eq', value: name },
    key: name,
  });
  const write = ({ store }: StoreProcess<unknown>, conditions: readonly Condition[], objectId: string, name: string) =>
    store.write({ plan: () => ({ conditions, changes: [], mutations: [insert(store, objectId, name)] }) });
  const done = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
    outcomes.filter((one) => {
      if (one.status === 'rejected') assert.ok(one.reason instanceof ConditionFailed, String(one.reason));
      return one.status === 'fulfilled';
    }).length;
  const rowsNamed = async (prefix: string): Promise<number> => {
    const text = 'SELECT count(*)::integer AS n FROM rds_test."t_Keyed" WHERE name LIKE $1';
    return (await sql.query(text, [`${prefix}%`])).rows[0].n;
  };

  test('of writes for one name, at once by both, one is carried out', async () => {
    for (let round = 0; round < 40; round++) {
      const names = Array.from({ length: 8 }, (_, at) => `r${round}-${at}`);
      // In different orders, so that their locks would cross.
      const outcomes = await Promise.allSettled([
        ...names.map((name) => write(a, [absent(a.store, name)], `a${name}`, name)),
        ...names.toReversed().map((name) => write(b, [absent(b.store, name)], `b${name}`, name)),
      ]);
      assert.equal(done(outcomes), 8);
    }
    assert.equal(await rowsNamed('r'), 320);
  });

  test('who writes under a key overtakes those who have read it before, in either process', async () => {
    const under = async (process: StoreProcess<unknown>, keys: readonly string[], writer: string): Promise<Condition> => ({
      kind: 'unchanged',
      writer,
      versions: await process.store.keyVersions(keys),
    });
    const [first, second] = [await under(a, ['k', 'l'], 'first'), await under(b, ['l', 'm'], 'second')];
    await write(a, [first], 'k1', 'key');
    await assert.rejects(write(b, [second], 'k2', 'key'), ConditionFailed);
    await write(a, [first], 'k3', 'key');
    const again = await under(b, ['l', 'm'], 'second');
    await write(b, [again], 'k4', 'key');
    await assert.rejects(write(a, [first], 'k5', 'key'), ConditionFailed);
    await write(b, [again], 'k6', 'key');
    assert.equal(await rowsNamed('key'), 4);
    for (let round = 0; round < 30; round++) {
      const conditions = await Promise.all([a, b].map((process, at) => under(process, [`x${round % 3}`], `${round}.${at}`)));
      const outcomes = await Promise.allSettled(
        [a, b].map((process, at) => write(process, conditions.slice(at, at + 1), `x${round}.${at}`, 'once')),
      );
      assert.equal(done(outcomes), 1);
    }
  });

  test('the schema is known as it is once keys were read', async () => {
    await a.store.write({ plan: () => ({ changes: tableChanges('Newer', { name: 'String' }), mutations: [] }) });
    await b.store.keyVersions(['k']);
    assert.ok(b.store.schema().tables.has('Newer'));
  });

  test('a process that is gone holds nothing: its locks end with its connection, and so do all others with their commits', async () => {
    const locks = async () =>
      (
        await sql.query(
          `SELECT classid::bigint, objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid = 1919185780
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        )
      ).rows;
    const gone = new pg.Client({ connectionString: url });
    gone.on('error', () => {});
    await gone.connect();
    await gone.query('BEGIN');
    await sql.query('BEGIN');
    await sql.query('LOCK rds_test."t_Keyed" IN EXCLUSIVE MODE');
    const held = write(a, [absent(a.store, 'held')], 'h1', 'held');
    for (let n = 0; n < 200 && (await locks()).length === 0; n++) await wait(10);
    const [lock] = await locks();
    await sql.query('ROLLBACK');
    await held;
    assert.deepEqual(await locks(), []);

    await gone.query(
      'SELECT pg_advisory_xact_lock($1::integer, ($2::bigint - (CASE WHEN $2 > 2147483647 THEN 4294967296 ELSE 0 END))::integer)',
      [1919185780, lock.objid],
    );
    let isOver = false;
    const waiting = write(b, [absent(b.store, 'held')], 'h2', 'held').finally(() => {
      isOver = true;
    });
    waiting.catch(() => {});
    // Other writes continue.
    await write(a, [absent(a.store, 'other')], 'h3', 'other');
    await wait(50);
    assert.equal(isOver, false);
    (gone as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    await assert.rejects(waiting, ConditionFailed);
    assert.deepEqual(await locks(), []);
  });
});
