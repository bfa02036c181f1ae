/** limit, skip, count, order, keys, excludeKeys, the refused parameters, and queries sent by POST. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import {
  assertError,
  badCases,
  create,
  createMany,
  date,
  defineTable,
  find,
  findNames,
  onEachEngine,
  type Row,
  tableName,
} from '../support/query.ts';

type OptionCase = [sentence: string, query: Row, names: string];

onEachEngine((get) => {
  const table = tableName('Options');
  const many = tableName('Many');
  before(async () => {
    await defineTable(get(), table, { k: 'String', g: 'String', n: 'Number', b: 'Boolean', d: 'Date', o: 'Object' });
    const rows: Row[] = [
      { objectId: 'ccc', k: 'c', g: 'y', n: 2, b: true, d: date('2024-01-03T00:00:00.000Z'), o: { z: 3, w: 1 } },
      { objectId: 'aaa', k: 'a', g: 'x', n: 2, b: false, d: date('2024-01-01T00:00:00.000Z'), o: { z: 1 } },
      { objectId: 'ddd', k: 'd', g: 'y' },
      { objectId: 'bbb', k: 'b', g: 'x', n: 1, b: true, d: date('2024-01-02T00:00:00.000Z'), o: { z: 2 } },
    ];
    for (const row of rows) {
      await create(get(), table, row);
      // createdAt has milliseconds: no two of these records may share one.
      await setTimeout(5);
    }
    await createMany(
      get(),
      many,
      Array.from({ length: 2101 }, (_, n) => ({ n })),
    );
  });
  const ask = (query: Row, of = table) => get().call('GET', `/platform/classes/${of}`, { query });

  const cases: OptionCase[] = [
    ['without order, records come in the order of creation', {}, 'c a d b'],
    ['order=n: absent values first, ties by objectId', { order: 'n' }, 'd b a c'],
    ['order=-n: absent values last, ties by objectId ascending', { order: '-n' }, 'a c b d'],
    ['order by several fields', { order: 'g,-n' }, 'a b c d'],
    ['order by several fields, other direction', { order: '-g,n' }, 'd c b a'],
    ['order by a Date', { order: 'd' }, 'd a b c'],
    ['order by a Boolean: false before true', { order: 'b' }, 'd a b c'],
    ['order by objectId', { order: 'objectId' }, 'a b c d'],
    ['order by -objectId', { order: '-objectId' }, 'd c b a'],
    ['order by createdAt', { order: 'createdAt' }, 'c a d b'],
    ['order by -createdAt', { order: '-createdAt' }, 'b d a c'],
    ['order by a dotted name', { order: '-o.z' }, 'c b a d'],
    ['an unknown field in order is passed over', { order: 'nowhere,k' }, 'a b c d'],
    ['limit', { order: 'k', limit: 2 }, 'a b'],
    ['limit=0', { limit: 0 }, ''],
    ['skip', { order: 'k', skip: 3 }, 'd'],
    ['skip and limit', { order: 'k', skip: 1, limit: 2 }, 'b c'],
    ['skip beyond the end', { skip: 100 }, ''],
    ['an empty where parameter value {} selects all', { where: {}, order: 'k' }, 'a b c d'],
  ];
  for (const [sentence, query, names] of cases)
    test(`Records/Query options: ${sentence}`, async () => {
      assert.deepEqual((await findNames(get(), table, query)).join(' '), names);
    });

  test('Records/Query: a single order key keeps millisecond ties in order of objectId', async () => {
    const ties = tableName('Ties');
    await createMany(
      get(),
      ties,
      Array.from({ length: 50 }, (_, n) => ({ n: n % 2 })),
    );
    const ids = (await find(get(), ties, { order: '-n' })).map((row) => `${1 - Number(row.n)}${row.objectId}`);
    assert.deepEqual(ids, [...ids].sort());
  });

  test('Limits: `limit` default is 100', async () => {
    assert.equal((await find(get(), many)).length, 100);
  });
  test('Limits: no `limit` maximum: limit=5000 returns all 2,101 rows', async () => {
    assert.equal((await find(get(), many, { limit: 5000 })).length, 2101);
  });
  test('Records/Query count: adds the total count, computed without skip and limit', async () => {
    const answer = await ask({ count: 1, limit: 2, skip: 1 }, many);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([answer.body.count, answer.body.results.length], [2101, 2]);
  });
  test('Records/Query count: counts what where selects', async () => {
    assert.equal((await ask({ count: 1, where: { n: { $gte: 2000 } } }, many)).body.count, 101);
  });
  test('Records/Query count: limit=0 with count=1 returns only the count', async () => {
    assert.deepEqual((await ask({ count: 1, limit: 0 }, many)).body, { results: [], count: 2101 });
  });
  test('Records/Query count: `true` asks for it, `0` and `false` do not', async () => {
    assert.equal((await ask({ count: 'true' })).body.count, 4);
    for (const count of ['0', 'false']) assert.ok(!('count' in (await ask({ count })).body), count);
  });
  test('Records/Query count: only when requested', async () => {
    assert.deepEqual(Object.keys((await ask({})).body), ['results']);
  });
  test('Records/Query count: an unknown table counts 0', async () => {
    const answer = await ask({ count: 1 }, tableName('Nothing'));
    assert.deepEqual([answer.status, answer.body], [200, { results: [], count: 0 }]);
  });

  test('Records/Query count: an unknown table has no count that was not asked for', async () => {
    for (const count of [0, 'false']) assert.deepEqual((await ask({ count }, tableName('Nothing'))).body, { results: [] });
  });
  for (const [query, status, code] of [
    [{ limit: 'abc' }, 400, 102],
    [{ skip: -1 }, 400, 102],
    [{ count: 'yes' }, 400, 102],
    [{ where: '{' }, 500, 1],
    [{ where: { a: { $foo: 1 } } }, 400, 102],
    [{ order: 'a b' }, 400, 105],
  ] as const)
    test(`Records/Query: an unknown table is no licence for a bad query: ${JSON.stringify(query)}`, async () => {
      assertError(await ask(query, tableName('Nothing')), status, code);
    });

  const always = ['objectId', 'createdAt', 'updatedAt', 'ACL'];
  test('Records/Query keys: a projection; objectId, createdAt, updatedAt and ACL stay', async () => {
    const [row] = await find(get(), table, { where: { k: 'a' }, keys: 'k,n' });
    for (const name of ['k', 'n', ...always]) assert.ok(name in (row ?? {}), name);
    for (const name of ['g', 'b', 'd', 'o']) assert.ok(!(name in (row ?? {})), name);
  });
  test('Records/Query keys: an unknown field is passed over', async () => {
    const [row] = await find(get(), table, { where: { k: 'a' }, keys: 'nowhere' });
    assert.ok(row && 'objectId' in row && !('k' in row));
  });
  test('Records/Query keys: a dotted key takes a part of an Object', async () => {
    const [row] = await find(get(), table, { where: { k: 'c' }, keys: 'o.z' });
    assert.deepEqual(row?.o, { z: 3 });
  });
  test('Records/Query keys: dotted keys that share their beginnings, however many, and a key above others takes all', async () => {
    const deep = tableName('Deep');
    await defineTable(get(), deep, { o: 'Object' });
    const o = { a: { b: { c: { x: 1, y: 2, z: 3 }, d: 4 }, e: 5 }, f: 6 };
    await create(get(), deep, { o });
    const names = Array.from({ length: 1_000 }, (_, n) => `o.a.b.c.n${n}`);
    for (const [keys, shown] of [
      [['o.a.b.c.x', ...names], { a: { b: { c: { x: 1 } } } }],
      [Array(2_000).fill('o.a.b.c.x'), { a: { b: { c: { x: 1 } } } }],
      [['o.a.b', 'o.a.b.c.x', 'o.f'], { a: { b: { c: { x: 1, y: 2, z: 3 }, d: 4 } }, f: 6 }],
      [['o.a.b.c.x', 'o.a.b', 'o.f'], { a: { b: { c: { x: 1, y: 2, z: 3 }, d: 4 } }, f: 6 }],
    ] as const)
      assert.deepEqual((await find(get(), deep, { keys: keys.join(',') }))[0]?.o, shown);
  });
  test('Records/Query keys, include, order: lists have a largest length, in all and in places', async () => {
    const post = (body: Row) => get().call('POST', `/platform/classes/${table}`, { body: { _method: 'GET', ...body } });
    const long = ['a'.repeat(150_000), 'b'.repeat(150_000)];
    for (const name of ['keys', 'excludeKeys', 'include', 'order']) {
      assertError(await post({ [name]: long.join(',') }), 400, 102);
      assertError(await post({ [name]: long }), 400, 102);
    }
    for (const name of ['keys', 'include']) assertError(await post({ [name]: 'a.'.repeat(100_000) }), 400, 102, /places/);
    const nothing = `/platform/classes/${tableName('Nothing')}`;
    const body = { _method: 'GET', include: 'a.'.repeat(100_000) };
    assertError(await get().call('POST', nothing, { body, as: 'anonymous' }), 400, 102, /places/);
  });
  test('Records/Query excludeKeys: leaves fields out, but not objectId', async () => {
    const [row] = await find(get(), table, { where: { k: 'a' }, excludeKeys: 'n,o,objectId' });
    assert.ok(row && !('n' in row) && !('o' in row));
    assert.deepEqual([row.objectId, row.k, row.g], ['aaa', 'a', 'x']);
  });
  test('Records/Query keys and excludeKeys together', async () => {
    const [row] = await find(get(), table, { where: { k: 'a' }, keys: 'k,n', excludeKeys: 'n' });
    assert.ok(row && 'k' in row && !('n' in row) && !('g' in row));
  });
  test('Records/Read one: keys projects here too', async () => {
    const answer = await get().call('GET', `/platform/classes/${table}/aaa`, { query: { keys: 'k' } });
    assert.equal(answer.status, 200, answer.text);
    assert.ok('k' in answer.body && !('g' in answer.body));
  });

  badCases(get, 'Records/Query options', table, [
    ['unsupported parameter distinct', { distinct: 'k' }, 102, 'Invalid parameter for query: distinct'],
    ['unsupported parameter readPreference', { readPreference: 'x' }, 102, 'Invalid parameter for query: readPreference'],
    ['unsupported parameter match', { match: {} }, 102, 'Invalid parameter for query: match'],
    ['an unknown parameter', { foo: 1 }, 102, 'Invalid parameter for query: foo'],
    ['an inherited name is an unknown parameter', { constructor: 1 }, 102, 'Invalid parameter for query: constructor'],
    ['an unknown parameter is reported before a bad where', { where: '{', foo: 1 }, 102, 'Invalid parameter for query: foo'],
    ['limit=-1', { limit: -1 }, 102],
    ['limit=1.5', { limit: 1.5 }, 102],
    ['limit=abc', { limit: 'abc' }, 102],
    ['limit=null', { limit: 'null' }, 102],
    ['limit=1e400', { limit: '1e400' }, 102],
    ['skip=-1', { skip: -1 }, 102],
    ['skip=abc', { skip: 'abc' }, 102],
    ['count=2', { count: 2 }, 102],
    ['count=yes', { count: 'yes' }, 102],
    ['order by an ill-formed name', { order: 'n; DROP TABLE x' }, 105],
    ['order by a name that holds a quote', { order: 'n"' }, 105],
    ['keys with an ill-formed name', { keys: 'k,a b' }, 105],
  ]);
  test('Records/Read one: an unsupported parameter is 102', async () => {
    assertError(await get().call('GET', `/platform/classes/${table}/aaa`, { query: { distinct: 'k' } }), 400, 102);
  });
  test('Records/Query: a parameter sent twice is no fault', async () => {
    assert.ok((await get().call('GET', `/platform/classes/${table}?limit=1&limit=2`)).status < 500);
  });

  for (const [how, headers] of [
    ['JSON', {}],
    ['text/plain', { 'Content-Type': 'text/plain' }],
  ] as const)
    test(`Requests: POST with _method GET takes the query from the body (${how}); where may be an object`, async () => {
      const answer = await get().call('POST', `/platform/classes/${table}`, {
        headers,
        body: { _method: 'GET', where: { n: { $gte: 2 } }, order: '-k', limit: 1, count: 1, keys: 'k' },
      });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.count, 2);
      assert.deepEqual(
        answer.body.results.map((row: Row) => row.k),
        ['c'],
      );
    });
  test('Requests: POST with _method GET: where may be JSON text, and credentials travel in the body', async () => {
    const body = { _method: 'GET', _ApplicationId: get().appId, _MasterKey: get().masterKey, where: '{"k":"a"}' };
    const response = await fetch(`${get().url}/platform/classes/${table}`, { method: 'POST', body: JSON.stringify(body) });
    assert.equal(response.status, 200);
    assert.equal(((await response.json()) as { results: Row[] }).results.length, 1);
  });
  test('Requests: POST with _method GET creates nothing', async () => {
    await get().call('POST', `/platform/classes/${table}`, { body: { _method: 'GET', where: {} } });
    assert.equal((await ask({ count: 1, limit: 0 })).body.count, 4);
  });
  test('Requests: POST with _method GET: an unknown parameter in the body is 102', async () => {
    const answer = await get().call('POST', `/platform/classes/${table}`, { body: { _method: 'GET', distinct: 'k' } });
    assertError(answer, 400, 102, 'Invalid parameter for query: distinct');
  });
});
