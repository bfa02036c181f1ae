import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../kernel/json.ts';
import { FindParameters } from '../../query/index.ts';
import {
  countRecords,
  createRecord,
  deleteRecord,
  findRecords,
  getRow,
  updateRecord,
  updateSchema,
} from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import { rowContext } from '../sql/testing/addresses.ts';
import { ReaderPool } from './reads/reader-pool.ts';
import { SqliteStore } from './store.ts';

describe('SQLite store', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rds-store-'));
  const faults: string[] = [];
  let pool: ReaderPool;
  let store: SqliteStore;
  const context = () => masterContext(store);
  const create = (table: string, body: JsonObject) => createRecord(context(), table, body);
  const find = async (table: string, parameters: Record<string, string>) => {
    const { results, count } = await findRecords(context(), table, new FindParameters(new Map(Object.entries(parameters))));
    let text = '';
    if (typeof results === 'string') text = results;
    else for await (const piece of results) text += piece;
    return { records: JSON.parse(text) as JsonObject[], count, streamed: typeof results !== 'string' };
  };

  before(() => {
    pool = new ReaderPool(1_000, (fault) => faults.push(fault));
    store = new SqliteStore(join(directory, 'records.sqlite'), { pool, report: assert.fail, ...rowContext });
  });
  after(async () => {
    await store.close();
    await pool.close();
    rmSync(directory, { recursive: true });
    assert.deepEqual(faults, []);
  });

  test('a write that fails undoes itself alone, its new columns too', async () => {
    await create('Alone', { a: 1 });
    const outcomes = await Promise.allSettled([
      create('Alone', { objectId: 'first', a: 2, b: 'new' }),
      create('Alone', { objectId: 'first', a: 3, c: 'never' }),
      create('Alone', { a: 4, b: 'old' }),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual([...(store.schema().tables.get('Alone')?.fields.keys() ?? [])].slice(6), ['a', 'b']);
    assert.equal((await find('Alone', {})).records.length, 3);
  });

  test('large values are written, and operators on them carried out, on a thread: whole, once, and seen at once', async () => {
    const text = 'x'.repeat(3_000_000);
    const list = Array.from({ length: 50_000 }, (_, n) => `item ${n}`);
    const { objectId } = await create('Values', { text, list, n: 1 });
    const updates = [{ list: { __op: 'AddUnique', objects: ['item 7', 'new'] } }, { n: { __op: 'Increment', amount: 1 } }];
    const [added] = await Promise.all(updates.map((body) => updateRecord(context(), 'Values', objectId as string, body)));
    assert.ok(added?.returned.includes('"item 49999","new"'), 'the answer');
    const [found] = (await find('Values', {})).records;
    assert.deepEqual([found?.text, found?.list, found?.n], [text, [...list, 'new'], 2]);
    await assert.rejects(create('Values', { objectId, text }), { code: 137 });
    assert.equal((await find('Values', {})).records.length, 1);
  });

  test('a schema read back from the file is the schema in memory', async () => {
    await create('Kept', { Name: 'x', name: 'y', When: { __type: 'Date', iso: '2026-01-01T00:00:00.000Z' } });
    const again = new SqliteStore(join(directory, 'records.sqlite'), { pool, report: assert.fail, ...rowContext });
    assert.deepEqual(again.schema().tables, store.schema().tables);
    assert.deepEqual([...again.schema().referencesTo.keys()].sort(), [...store.schema().referencesTo.keys()].sort());
  });

  test('a schema that another process changes is noticed, by writes at once', async () => {
    const other = new SqliteStore(join(directory, 'records.sqlite'), { pool, report: assert.fail, ...rowContext });
    await createRecord({ ...context(), store: other }, 'Foreign', { a: 1 });
    await create('Foreign', { a: 2, b: 'x' });
    await createRecord({ ...context(), store: other }, 'Foreign', { b: 'y', c: true });
    await assert.rejects(create('Foreign', { c: 'no Boolean' }), { code: 111 });
    assert.equal((await find('Foreign', { where: '{"b":{"$exists":true}}' })).records.length, 2);
  });

  test('schema changes of two processes at a time, each on a thread, are all made', async () => {
    const other = new SqliteStore(join(directory, 'records.sqlite'), { pool, report: assert.fail, ...rowContext });
    const make = (at: SqliteStore, prefix: string) =>
      at.write({
        plan: (schema) => {
          const missing = Array.from({ length: 51 }, (_, n) => `${prefix}${n}`).filter((name) => !schema.tables.has(name));
          return { changes: missing.map((className) => ({ kind: 'createTable', className, fields: [] })), mutations: [] };
        },
      });
    // The second of each pair makes what the first has made already, or tables of its own.
    for (const [first, second] of [
      ['Same', 'Same'],
      ['Ours', 'Theirs'],
    ] as const) {
      await Promise.all([make(store, first), make(other, second)]);
      for (const prefix of [first, second]) assert.ok(store.schema().tables.has(`${prefix}50`), prefix);
    }
    await other.close();
  });

  test('long answers stream, and hold every record once', async () => {
    await Promise.all(Array.from({ length: 3_000 }, (_, n) => create('Many', { n, text: 'some text of a record' })));
    const { records, streamed } = await find('Many', { limit: '5000', order: '-n' });
    assert.equal(streamed, true);
    assert.deepEqual(
      records.map(({ n }) => n),
      Array.from({ length: 3_000 }, (_, n) => 2_999 - n),
    );
  });

  test('a long array of Pointers is expanded on a thread as a short one is at once', async () => {
    const ids = (await find('Many', { limit: '5000' })).records.map(({ objectId }) => objectId as string);
    for (const count of [3, 3_000]) {
      const list = ids.slice(0, count).map((objectId) => ({ __type: 'Pointer', className: 'Many', objectId }));
      const { objectId } = await create('Lists', { list, count });
      const one = await getRow(context(), 'Lists', objectId, { include: ['list'] });
      const { records } = await find('Lists', { include: 'list', where: JSON.stringify({ count }) });
      assert.deepEqual([one], records);
      assert.deepEqual(
        (one.list as JsonObject[]).map(({ objectId: id, __type }) => `${__type} ${id}`),
        ids.slice(0, count).map((id) => `Object ${id}`),
      );
    }
    await assert.rejects(getRow(context(), 'Lists', 'missing', { include: ['list'] }), { code: 101 });
  });

  test('an answer that is taken slowly keeps no other read in its moment, and no schema', async () => {
    const { results } = await findRecords(context(), 'Many', { limit: 5_000 });
    const pieces = (results as AsyncIterable<string>)[Symbol.asyncIterator]();
    await pieces.next();
    const fresh = { text: { $regex: 'f[r]esh' } };
    await create('Many', { n: -1, text: 'fresh', extra: 5 });
    assert.equal((await find('Many', { where: JSON.stringify({ ...fresh, extra: 5 }) })).records.length, 1);
    const planned = find('Many', { where: JSON.stringify({ ...fresh, extra: { $exists: true } }) });
    await updateSchema(context(), 'Many', { fields: { extra: { __op: 'Delete' } } });
    assert.ok((await planned).records.length <= 1);
    await pieces.return?.();
    const [{ objectId }] = (await find('Many', { where: JSON.stringify(fresh) })).records as [JsonObject];
    await deleteRecord(context(), 'Many', objectId as string, {});
  });

  test('an answer that nobody reads on is let go', async () => {
    const { results } = await findRecords(context(), 'Many', { limit: 5_000 });
    assert.notEqual(typeof results, 'string');
    for await (const _ of results as AsyncIterable<string>) break;
    assert.equal((await find('Many', { limit: '0', count: '1' })).count, 3_000);
  });

  test('a pattern that never ends is ended, and other reads go on', async () => {
    await create('Slow', { text: `${'a'.repeat(40)}!` });
    const endless = find('Slow', { where: JSON.stringify({ text: { $regex: '^(?=a)(a+)+$' } }) });
    assert.equal((await find('Many', { limit: '0', count: '1' })).count, 3_000);
    await assert.rejects(endless, { code: 124, status: 503 });
    assert.equal((await find('Many', { limit: '0', count: '1' })).count, 3_000);
  });

  test('a scan ends at its time limit', async () => {
    const short = new ReaderPool(1, (fault) => faults.push(fault));
    const other = new SqliteStore(join(directory, 'records.sqlite'), { pool: short, report: assert.fail, ...rowContext });
    const where = { text: { $regex: '(s|o|m|e| )*x$' } };
    await assert.rejects(findRecords({ ...context(), store: other }, 'Many', { where }), { code: 124 });
    await other.close();
    await short.close();
  });

  test('a large table gets indexes, and loses columns, while others read and write', async () => {
    for (let n = 0; n < 12_000; n += 1_000)
      await Promise.all(Array.from({ length: 1_000 }, (_, k) => create('Large', { n: n + k, old: 'x' })));
    const changed = updateSchema(context(), 'Large', { fields: { old: { __op: 'Delete' } }, indexes: { byN: { n: 1 } } });
    const written = Promise.all(Array.from({ length: 50 }, (_, k) => create('Large', { n: 12_000 + k })));
    const refused = assert.rejects(create('Large', { n: 'text' }), { code: 111 });
    assert.equal((await find('Large', { where: '{"n":7}' })).records.length, 1);
    assert.ok(Object.hasOwn((await changed).indexes as JsonObject, 'byN'));
    await Promise.all([written, refused]);
    assert.equal((await find('Large', { limit: '0', count: '1' })).count, 12_050);
    assert.equal(store.schema().tables.get('Large')?.fields.has('old'), false);
    // The record is inserted together with a new Pointer field and its index.
    const pointer = { __type: 'Pointer', className: 'Many', objectId: 'somebody12' };
    await Promise.all([create('Large', { n: -1, to: pointer }), create('Large', { n: -2, to: pointer })]);
    assert.equal((await find('Large', { where: JSON.stringify({ to: pointer }) })).records.length, 2);
  });

  test('an index of few but long texts is made while others have their turns', async () => {
    const words = Array.from({ length: 30_000 }, (_, at) => (at * 7_919).toString(36)).join(' ');
    for (let n = 0; n < 4; n++) await create('Texts', { objectId: `text${n}`, text: `${words} word${n}`, other: 'x' });
    const search = JSON.stringify({ text: { $text: { $search: { $term: 'word3' } } } });
    for (const change of [{ textIndex: ['text', 'other'] }, { fields: { other: { __op: 'Delete' } } }]) {
      let turns = 0;
      const others = setInterval(() => turns++, 5);
      await updateSchema(context(), 'Texts', change);
      clearInterval(others);
      assert.ok(turns >= 5, `${turns} turns`);
      const { records } = await find('Texts', { where: search });
      assert.deepEqual(
        records.map(({ objectId }) => objectId),
        ['text3'],
      );
    }
  });

  test('an errand that fails says so, and costs nobody a thread', async () => {
    const reported: string[] = [];
    const other = new ReaderPool(1_000, (fault) => reported.push(fault));
    const { fault } = await other.maintain('checkpoint', join(directory, 'nowhere', 'records.sqlite'));
    assert.deepEqual(fault, { text: 'unable to open database file', errcode: 14, code: 'ERR_SQLITE_ERROR' });
    const apart = new SqliteStore(join(directory, 'records.sqlite'), { pool: other, report: assert.fail, ...rowContext });
    assert.equal(await countRecords({ ...context(), store: apart }, 'Many'), 3_000);
    await apart.close();
    await other.close();
    assert.deepEqual(reported, []);
  });

  test('updates of one turn see each other', async () => {
    const { objectId } = await create('Count', { n: 0 });
    await Promise.all(
      Array.from({ length: 200 }, () => updateRecord(context(), 'Count', objectId, { n: { __op: 'Increment', amount: 1 } })),
    );
    assert.equal((await getRow(context(), 'Count', objectId)).n, 200);
  });
});
