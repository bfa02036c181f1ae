/** $or, $and, $nor, $not, and everything about a `where` that is refused. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  assertError,
  badCases,
  createEach,
  defineTable,
  find,
  findNames,
  onEachEngine,
  type Row,
  tableName,
  whereCases,
} from '../support/query.ts';

const nested = (levels: number): Row => (levels === 0 ? { n: 1 } : { $and: [nested(levels - 1)] });

onEachEngine((get) => {
  const table = tableName('Logic');
  before(async () => {
    await defineTable(get(), table, { k: 'String', n: 'Number', m: 'Number', d: 'Date', s: 'String' });
    await createEach(get(), table, [
      { k: 'a', n: 1, m: 10, s: 'a&b' },
      { k: 'b', n: 2, m: 20, s: 'a b' },
      { k: 'c', n: 3, m: 30, s: 'a+b' },
      { k: 'd', n: 4, s: 'a#b' },
    ]);
  });
  whereCases(get, 'Records/Query logic', table, [
    ['$or: one of the branches', { $or: [{ n: 1 }, { n: 3 }] }, 'a c'],
    ['$or beside a field: both', { $or: [{ n: 1 }, { n: 3 }], m: { $gt: 10 } }, 'c'],
    ['$and: all of the branches', { $and: [{ n: { $gt: 1 } }, { n: { $lt: 4 } }] }, 'b c'],
    ['$nor: none of the branches', { $nor: [{ n: 1 }, { m: 30 }] }, 'b d'],
    ['$nor counts absent fields as no match', { $nor: [{ m: { $gt: 0 } }] }, 'd'],
    ['$or in $and', { $and: [{ $or: [{ n: 1 }, { n: 2 }] }, { $or: [{ m: 20 }, { m: 30 }] }] }, 'b'],
    ['$and in $or', { $or: [{ $and: [{ n: 1 }, { m: 10 }] }, { n: 4 }] }, 'a d'],
    ['$nor in $or', { $or: [{ $nor: [{ n: { $lt: 4 } }] }, { n: 2 }] }, 'b d'],
    ['$or with one branch', { $or: [{ n: 2 }] }, 'b'],
    ['$not of a list', { n: { $not: { $in: [1, 2] } } }, 'c d'],
    ['$not beside another operator', { n: { $gt: 1, $not: { $eq: 3 } } }, 'b d'],
    ['$not of $regex', { s: { $not: { $regex: '^a[&+]' } } }, 'b d'],
    ['20 levels of nesting', nested(20), 'a'],
    ['$or over an unknown field', { $or: [{ none: 1 }, { n: 1 }] }, 'a'],
  ]);
  badCases(get, 'Records/Query where', table, [
    ['an unknown operator is 102', { where: { n: { $foo: 1 } } }, 102],
    ['an unknown operator beside a known one is 102', { where: { n: { $gt: 0, $foo: 1 } } }, 102],
    ['an unknown operator on an unknown field is 102', { where: { nowhere: { $foo: 1 } } }, 102],
    ['an unknown operator at the top is 102', { where: { $foo: [] } }, 102],
    ['$where is an unknown operator', { where: { $where: 'sleep(1)' } }, 102],
    ['$or that is no array', { where: { $or: { n: 1 } } }, 102, /Bad \$or format - use an array value/],
    ['$and that is no array', { where: { $and: 1 } }, 102, /Bad \$and format - use an array value/],
    ['$nor that is no array', { where: { $nor: 'x' } }, 102, /Bad \$nor format/],
    ['$nor needs at least one branch', { where: { $nor: [] } }, 102],
    ['more than 50 levels is 102', { where: nested(120) }, 102],
    ['an ill-formed name is 105', { where: { 'a b': 1 } }, 105],
    ['a name that holds SQL is 105', { where: { 'n" OR 1=1 --': 1 } }, 105],
    ['ACL cannot be queried', { where: { ACL: {} } }, 102, /Cannot query on ACL/],
    ['$relativeTime with $eq is 107', { where: { d: { $eq: { $relativeTime: 'now' } } } }, 107],
    ['$relativeTime on a Number is 107', { where: { n: { $gt: { $relativeTime: 'now' } } } }, 107],
    ['$relativeTime that cannot be read is 107', { where: { d: { $gt: { $relativeTime: 'soon' } } } }, 107],
  ]);

  for (const text of ['{', 'abc', '{"n":}', "{'n':1}", '[1]', '5', '"x"', 'null'])
    test(`Records/Query where: a where that is not valid JSON, or no object, returns 500: ${text}`, async () => {
      const answer = await get().call('GET', `/platform/classes/${table}`, { query: { where: text } });
      assertError(answer, 500, 1, /server error/i);
    });

  const raw = (text: string) => get().call('GET', `/platform/classes/${table}?where=${text}`);
  test('Records/Query where: an unencoded + becomes a space: no error, another value', async () => {
    const answer = await raw('{"s":"a+b"}');
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      answer.body.results.map((row: Row) => row.k),
      ['b'],
    );
  });
  test('Records/Query where: an unencoded + becomes a space (empty result, no error)', async () => {
    const answer = await raw('{"s":"x+y"}');
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body.results, []);
  });
  test('Records/Query where: an encoded +, & and # reach their values', async () => {
    for (const [value, k] of [
      ['a+b', 'c'],
      ['a&b', 'a'],
      ['a#b', 'd'],
    ] as const)
      assert.deepEqual(await findNames(get(), table, { where: { s: value } }), [k]);
  });
  test('Records/Query where: an unencoded & returns 400 code 102', async () => {
    assertError(await raw('{"s":"a&b"}'), 400, 102, /^Invalid parameter for query: b"\}/);
  });
  test('Records/Query where: an unencoded # returns 500', async () => {
    assertError(await raw('{"s":"a#b"}'), 500, 1);
  });
  test('Records/Query: a query on an unknown table returns 200 and an empty list', async () => {
    assert.deepEqual(await find(get(), tableName('Nothing'), { where: { a: 1 } }), []);
  });
  test('Records/Query: a query on an unknown table does not create it', async () => {
    const name = tableName('Nothing');
    await find(get(), name);
    assertError(await get().call('GET', `/platform/schemas/${name}`), 400, 103);
  });
});
