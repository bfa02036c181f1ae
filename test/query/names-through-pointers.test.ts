/** Dotted names through Pointers, in `where` and `order`. Reference: queries.md#names-through-pointers. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  badCases,
  createEach,
  date,
  defineTable,
  find,
  findNames,
  onEachEngine,
  pointer,
  tableName,
  whereCases,
} from '../support/query.ts';

onEachEngine((get) => {
  const accounts = tableName('Accounts');
  const sales = tableName('Sales');
  const rows = tableName('Rows');
  const none = tableName('None');
  before(async () => {
    const fields = {
      ...{ k: 'String', City: 'String', Rank: 'Number', Info: 'Object', Tags: 'Array', Since: 'Date', Open: 'Boolean' },
      ...{ Parent: `Pointer:${accounts}`, Friends: `Relation:${accounts}` },
    };
    await defineTable(get(), accounts, fields);
    await defineTable(get(), sales, { k: 'String', AccountId: `Pointer:${accounts}`, Many: 'Array', Gone: `Pointer:${none}` });
    await defineTable(get(), rows, { k: 'String', SaleId: `Pointer:${sales}`, AccountId: `Pointer:${accounts}` });
    const account = (id: string) => pointer(accounts, id);
    await createEach(get(), accounts, [
      {
        ...{ objectId: 'acc1', k: '1', City: 'Haifa', Rank: 3, Info: { n: 10, list: ['x'] }, Tags: ['vip'], Open: true },
        Since: date('2024-05-01T00:00:00.000Z'),
      },
      { objectId: 'acc2', k: '2', City: 'Yafo', Rank: 1, Info: { n: 9 }, Parent: account('acc1'), Open: false },
      {
        objectId: 'acc3',
        k: '3',
        Rank: 2,
        Parent: account('acc2'),
        Friends: { __op: 'AddRelation', objects: [account('acc1')] },
      },
      { objectId: 'acc4', k: '4', City: 'Haifa', Parent: account('gone') },
    ]);
    await createEach(get(), sales, [
      { objectId: 'sale1', k: 'a', AccountId: account('acc1'), Many: [account('acc1')], Gone: pointer(none, 'x') },
      { objectId: 'sale2', k: 'b', AccountId: account('acc2') },
      { objectId: 'sale3', k: 'c', AccountId: account('acc3') },
      { objectId: 'sale4', k: 'd', AccountId: account('acc4') },
      { objectId: 'sale5', k: 'e', AccountId: account('gone') },
      { objectId: 'sale6', k: 'f' },
    ]);
    await createEach(
      get(),
      rows,
      ['sale1', 'sale2', 'sale3', 'sale5', 'sale6'].map((id, at) => ({
        objectId: `row${at}`,
        k: `r${at}`,
        SaleId: pointer(sales, id),
      })),
    );
  });

  whereCases(get, 'where', sales, [
    ['a value', { 'AccountId.City': 'Haifa' }, 'a d'],
    ['operators', { 'AccountId.Rank': { $gt: 1, $lt: 3 } }, 'c'],
    ['$in', { 'AccountId.City': { $in: ['Yafo', 'Eilat'] } }, 'b'],
    ['$regex', { 'AccountId.City': { $regex: '^h', $options: 'i' } }, 'a d'],
    ['a Date', { 'AccountId.Since': { $gte: date('2024-01-01') } }, 'a'],
    ['a Boolean', { 'AccountId.Open': false }, 'b'],
    ['a Pointer of the target', { 'AccountId.Parent': pointer(accounts, 'acc1') }, 'b'],
    ['an element of an Array', { 'AccountId.Tags': 'vip' }, 'a'],
    ['a place inside an Object', { 'AccountId.Info.n': { $gte: 10 } }, 'a'],
    ['a Relation of the target', { 'AccountId.Friends': pointer(accounts, 'acc1') }, 'c'],
    ['the id of the target: it has to exist', { 'AccountId.objectId': { $in: ['acc1', 'gone'] } }, 'a'],
    ['through two Pointers', { 'AccountId.Parent.City': 'Haifa' }, 'b'],
    ['through three', { 'AccountId.Parent.Parent.City': 'Haifa' }, 'c'],
    // As in `$inQuery`, a record has to be there.
    ['$ne: a target without the field matches, no target does not', { 'AccountId.City': { $ne: 'Haifa' } }, 'b c'],
    ['null: likewise', { 'AccountId.City': null }, 'c'],
    ['$exists: likewise', { 'AccountId.City': { $exists: false } }, 'c'],
    ['an unknown field of the target is absent', { 'AccountId.Nope': 'x' }, ''],
    ['it is absent in all', { 'AccountId.Nope': { $exists: false } }, 'a b c d'],
    ['$inQuery behind it', { 'AccountId.Parent': { $inQuery: { className: accounts, where: { City: 'Haifa' } } } }, 'b'],
    ['in $or', { $or: [{ 'AccountId.City': 'Yafo' }, { k: 'f' }] }, 'b f'],
    ['in $and', { $and: [{ 'AccountId.City': 'Haifa' }, { 'AccountId.Rank': { $exists: true } }] }, 'a'],
    ['in $nor', { $nor: [{ 'AccountId.City': 'Haifa' }] }, 'b c e f'],
    ['in $not at the top', { $not: { 'AccountId.City': 'Haifa' } }, 'b c e f'],
    ['$not around its operators asks the target', { 'AccountId.City': { $not: { $eq: 'Haifa' } } }, 'b c'],
    ['a table that does not exist', { 'Gone.City': { $exists: false } }, ''],
    ['an unknown root is absent', { 'Nope.City': { $exists: false } }, 'a b c d e f'],
    ['beside other names', { 'AccountId.City': 'Haifa', k: { $gt: 'a' } }, 'd'],
  ]);
  whereCases(get, 'where', rows, [
    ['through a Pointer of the target', { 'SaleId.AccountId.City': 'Haifa' }, 'r0'],
    ['in a sub-query', { SaleId: { $inQuery: { className: sales, where: { 'AccountId.City': 'Yafo' } } } }, 'r1'],
    ['in $select', { k: { $select: { query: { className: sales, where: { 'AccountId.City': 'Haifa' } }, key: 'k' } } }, ''],
  ]);

  const orders: [string, string, string][] = [
    ['ascending, records without a value first', 'AccountId.City', 'c e f a d b'],
    ['descending, they come last', '-AccountId.City', 'b a d c e f'],
    ['a Number', 'AccountId.Rank', 'd e f b c a'],
    ['a Date', '-AccountId.Since', 'a b c d e f'],
    ['a Boolean', 'AccountId.Open', 'c d e f b a'],
    ['a place inside an Object', 'AccountId.Info.n', 'c d e f b a'],
    ['with further names', 'AccountId.City,-k', 'f e c d a b'],
    ['after other names', '-AccountId.City,-AccountId.Rank', 'b a d c e f'],
    ['the id of the target: no target is absent', '-AccountId.objectId', 'd c b a e f'],
    ['through two Pointers', '-AccountId.Parent.City,-k', 'c b f e d a'],
    ['an unknown field: all are alike', 'AccountId.Nope,-k', 'f e d c b a'],
    ['a Relation and an ACL: likewise', 'AccountId.Friends,AccountId.ACL,-k', 'f e d c b a'],
    ['a table that does not exist: likewise', 'Gone.City,-k', 'f e d c b a'],
    ['an unknown root: likewise', 'Nope.City,-k', 'f e d c b a'],
  ];
  describe('order', () => {
    for (const [sentence, order, names] of orders)
      test(`${sentence}: ${order}`, async () => {
        // The ties of `Rank` above: by objectId.
        assert.equal((await findNames(get(), sales, { order })).join(' '), names);
        const pages = await Promise.all([0, 2, 4].map((skip) => findNames(get(), sales, { order, skip, limit: 2 })));
        assert.equal(pages.flat().join(' '), names, 'page by page');
      });

    test('with where, count and include', async () => {
      const query = { where: { 'AccountId.City': { $exists: true } }, order: '-AccountId.City', count: 1, include: 'AccountId' };
      const { body } = await get().call('GET', `/platform/classes/${sales}`, { query });
      assert.deepEqual([body.count, body.results.map(({ k }: { k: string }) => k)], [3, ['b', 'a', 'd']]);
      assert.equal(body.results[0].AccountId.City, 'Yafo');
    });

    test('in an export', async () => {
      const query = { format: 'ndjson', order: '-AccountId.Rank', where: { 'AccountId.Rank': { $gt: 0 } } };
      const { text } = await get().call('GET', `/platform/export/${sales}`, { query });
      const ks = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).k);
      assert.deepEqual(ks, ['a', 'c', 'b']);
    });
  });

  test('count', async () => {
    const query = { where: { 'AccountId.City': 'Haifa' }, count: 1, limit: 0 };
    assert.deepEqual((await get().call('GET', `/platform/classes/${sales}`, { query })).body, { results: [], count: 2 });
  });

  describe('aggregation', () => {
    const results = async (query: Record<string, unknown>) => {
      const { status, text, body } = await get().call('GET', `/platform/classes-aggregate/${sales}`, { query });
      assert.equal(status, 200, text);
      return body.results;
    };
    const count = { $count: 'n' };
    test('where', async () => {
      assert.deepEqual(await results({ where: { 'AccountId.City': 'Haifa' }, pipeline: [count] }), [{ n: 2 }]);
    });
    test('$match before other stages, with bare Dates and Pointers', async () => {
      for (const match of [
        { 'AccountId.Since': { $gte: '2024-01-01T00:00:00.000Z' } },
        { 'AccountId.Parent': `${accounts}$acc1` },
        { $or: [{ '_p_AccountId.City': 'Yafo' }] },
      ])
        assert.deepEqual(await results({ pipeline: [{ $match: match }, count] }), [{ n: 1 }], JSON.stringify(match));
    });
    test('$match behind another stage is refused', async () => {
      const pipeline = [{ $addFields: { x: 1 } }, { $match: { 'AccountId.City': 'Haifa' } }];
      const { status, body } = await get().call('GET', `/platform/classes-aggregate/${sales}`, { query: { pipeline } });
      assert.deepEqual([status, body.code], [400, 102]);
      assert.match(body.error, /AccountId\.City: only a \$match before all other stages leads through a Pointer/);
    });
  });

  const deep = (levels: number) => `AccountId.${'Parent.'.repeat(levels)}City`;
  badCases(get, 'refused', sales, [
    ['an empty name behind the dot', { where: { 'AccountId.': 1 } }, 105],
    ['an operator behind it', { where: { 'AccountId.$or': [] } }, 105],
    ['an empty name in order', { order: 'AccountId.' }, 105],
    ['an ill-formed name of the target', { where: { 'AccountId.a-b': 1 } }, 105],
    ['one in order', { order: 'AccountId.a-b' }, 105],
    ['`__proto__`', { where: { 'AccountId.__proto__': 1 } }, 105],
    ['the ACL of the target', { where: { 'AccountId.ACL': {} } }, 102, 'Cannot query on ACL.'],
    ['an unknown operator', { where: { 'AccountId.City': { $near: 1 } } }, 102, 'bad constraint: $near'],
    ['more than 50 levels', { where: { [deep(50)]: 'Haifa' } }, 102, 'where nests deeper than 50 levels'],
    ['more than 20 Pointers in order', { order: deep(20) }, 102, /leads through more than 20 Pointers/],
    ['in all its names', { order: [0, 1, 2, 3, 4, 5].map(deep).join() }, 102, /leads through more than 20 Pointers/],
    [
      'more than 2,000 constraints',
      { where: { $or: Array.from({ length: 1_000 }, (_, n) => ({ 'AccountId.Rank': n })) } },
      102,
      'where has more than 2000 constraints',
    ],
  ]);

  test('20 Pointers in an order are followed', async () => {
    assert.equal((await find(get(), sales, { order: deep(19) })).length, 6);
  });
});
