/** Constraints on Pointer fields, sub-queries, and constraints on objectId. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  badCases,
  createEach,
  createMany,
  defineTable,
  find,
  findNames,
  onEachEngine,
  pointer,
  tableName,
  whereCases,
} from '../support/query.ts';

onEachEngine((get) => {
  const owners = tableName('Owners');
  const things = tableName('Things');
  const owner = (id: string) => pointer(owners, id);
  before(async () => {
    await defineTable(get(), owners, { k: 'String', city: 'String', rank: 'Number', boss: `Pointer:${owners}`, info: 'Object' });
    const fields = {
      k: 'String',
      owner: `Pointer:${owners}`,
      city: 'String',
      seen: 'Array',
      code: 'String',
      towns: 'Array',
      o: 'Object',
    };
    await defineTable(get(), things, fields);
    await createEach(get(), owners, [
      { objectId: 'owner00001', k: 'o1', city: 'Haifa', rank: 1, info: { home: 'Haifa' } },
      { objectId: 'owner00002', k: 'o2', city: 'Eilat', rank: 2, boss: owner('owner00001'), info: { home: 'Yafo' } },
      { objectId: 'owner00003', k: 'o3', city: 'Haifa', rank: 3, boss: owner('owner00002') },
    ]);
    await createEach(get(), things, [
      {
        objectId: 'thing00001',
        k: 'a',
        owner: owner('owner00001'),
        city: 'Haifa',
        seen: [owner('owner00002')],
        code: 'owner00002',
        towns: [1, 'Haifa', null],
        o: { by: owner('owner00001'), town: 'Eilat' },
      },
      {
        objectId: 'thing00002',
        k: 'b',
        owner: owner('owner00002'),
        city: 'Yafo',
        seen: [owner('owner00001'), owner('owner00003')],
        towns: [3, 'Yafo', { a: 1 }],
        o: { by: 'owner00001', list: [owner('owner00003')], towns: ['Haifa'] },
      },
      { objectId: 'thing00003', k: 'c', owner: owner('owner00003'), city: 'Eilat' },
      { objectId: 'thing00004', k: 'd', owner: owner('nowhere001') },
      { objectId: 'thing00005', k: 'e' },
    ]);
  });
  whereCases(get, 'Records/Query Pointer', things, [
    ['a Pointer constraint uses the full Pointer object', { owner: owner('owner00001') }, 'a'],
    ['a bare string matches nothing', { owner: 'owner00001' }, ''],
    ['a Pointer to another table matches nothing', { owner: pointer(things, 'owner00001') }, ''],
    ['$eq', { owner: { $eq: owner('owner00002') } }, 'b'],
    ['$ne matches absent too', { owner: { $ne: owner('owner00001') } }, 'b c d e'],
    ['$ne of a bare string matches everything', { owner: { $ne: 'owner00001' } }, 'a b c d e'],
    ['$in', { owner: { $in: [owner('owner00001'), owner('owner00003')] } }, 'a c'],
    ['$in of bare strings matches nothing', { owner: { $in: ['owner00001'] } }, ''],
    ['$nin', { owner: { $nin: [owner('owner00001'), owner('owner00003')] } }, 'b d e'],
    ['$exists', { owner: { $exists: true } }, 'a b c d'],
    ['null', { owner: null }, 'e'],
    ['a dangling Pointer is found by its value', { owner: owner('nowhere001') }, 'd'],
    ['createdBy is a Pointer to _User: master for key writes', { createdBy: pointer('_User', 'master') }, 'a b c d e'],
    ['objectId by equality', { objectId: 'thing00003' }, 'c'],
    ['objectId $in', { objectId: { $in: ['thing00001', 'thing00005', 'x'] } }, 'a e'],
    ['objectId $gt', { objectId: { $gt: 'thing00003' } }, 'd e'],
    ['objectId $ne', { objectId: { $ne: 'thing00003' } }, 'a b d e'],
    ['objectId $regex', { objectId: { $regex: '[12]$' } }, 'a b'],
  ]);
  whereCases(get, 'Records/Query sub-queries', things, [
    ['$inQuery: the target matches', { owner: { $inQuery: { className: owners, where: { city: 'Haifa' } } } }, 'a c'],
    ['$inQuery without where: the target exists', { owner: { $inQuery: { className: owners, where: {} } } }, 'a b c'],
    [
      '$notInQuery: the target does not match',
      { owner: { $notInQuery: { className: owners, where: { city: 'Haifa' } } } },
      'b d e',
    ],
    [
      '$inQuery inside $inQuery',
      { owner: { $inQuery: { className: owners, where: { boss: { $inQuery: { className: owners, where: { k: 'o1' } } } } } } },
      'b',
    ],
    ['$inQuery on an Array of Pointers', { seen: { $inQuery: { className: owners, where: { rank: { $gte: 3 } } } } }, 'b'],
    ['$inQuery on a place in an Object', { 'o.by': { $inQuery: { className: owners, where: { city: 'Haifa' } } } }, 'a'],
    ['$inQuery on an array in an Object', { 'o.list': { $inQuery: { className: owners, where: { city: 'Haifa' } } } }, 'b'],
    [
      '$notInQuery on a place in an Object',
      { 'o.by': { $notInQuery: { className: owners, where: { city: 'Haifa' } } } },
      'b c d e',
    ],
    ['$inQuery on a table that does not exist', { owner: { $inQuery: { className: tableName('None'), where: {} } } }, ''],
    [
      '$notInQuery on a table that does not exist',
      { owner: { $notInQuery: { className: tableName('None'), where: {} } } },
      'a b c d e',
    ],
    [
      '$select: the value is among a key of another query',
      { city: { $select: { query: { className: owners }, key: 'city' } } },
      'a c',
    ],
    [
      '$select with where',
      { city: { $select: { query: { className: owners, where: { rank: { $gt: 1 } } }, key: 'city' } } },
      'a c',
    ],
    [
      '$select with where that leaves one',
      { city: { $select: { query: { className: owners, where: { rank: 2 } }, key: 'city' } } },
      'c',
    ],
    ['$select with a dotted key', { city: { $select: { query: { className: owners }, key: 'info.home' } } }, 'a b'],
    ['$select of objectId', { code: { $select: { query: { className: owners }, key: 'objectId' } } }, 'a'],
    ['$select on an Array: an element', { towns: { $select: { query: { className: owners }, key: 'city' } } }, 'a'],
    ['$select on an Array: a Number element', { towns: { $select: { query: { className: owners }, key: 'rank' } } }, 'a b'],
    ['$dontSelect on an Array', { towns: { $dontSelect: { query: { className: owners }, key: 'city' } } }, 'b c d e'],
    ['$select on a place in an Object', { 'o.town': { $select: { query: { className: owners }, key: 'city' } } }, 'a'],
    ['$select on an array in an Object', { 'o.towns': { $select: { query: { className: owners }, key: 'city' } } }, 'b'],
    ['$dontSelect', { city: { $dontSelect: { query: { className: owners }, key: 'city' } } }, 'b d e'],
    [
      'sub-queries combine with $or',
      { $or: [{ k: 'e' }, { owner: { $inQuery: { className: owners, where: { k: 'o2' } } } }] },
      'b e',
    ],
  ]);
  test('Records/Query sub-queries: in each other, as many as the engine takes, more are 102', async () => {
    const where = Array.from({ length: 40 }).reduce(
      (inner, _, at) => ({ [at < 39 ? 'boss' : 'owner']: { $inQuery: { className: owners, where: inner } } }),
      { k: 'o1' } as unknown,
    );
    const { status, body } = await get().call('GET', `/platform/classes/${things}`, { query: { where } });
    if (status === 200) assert.deepEqual(body.results, []);
    else assert.deepEqual([status, body.code], [400, 102]);
  });

  badCases(get, 'Records/Query sub-queries', things, [
    ['$inQuery without a class', { where: { owner: { $inQuery: { where: {} } } } }, 102, /improper usage of \$inQuery/],
    ['$notInQuery that is no object', { where: { owner: { $notInQuery: 'x' } } }, 102, /improper usage of \$notInQuery/],
    [
      '$select without key',
      { where: { city: { $select: { query: { className: owners } } } } },
      102,
      /improper usage of \$select/,
    ],
    [
      '$select with a third key',
      { where: { city: { $select: { query: { className: owners }, key: 'city', more: 1 } } } },
      102,
      /improper usage of \$select/,
    ],
    ['$dontSelect without query', { where: { city: { $dontSelect: { key: 'x' } } } }, 102, /improper usage of \$dontSelect/],
    [
      'an unknown operator inside a sub-query',
      { where: { owner: { $inQuery: { className: owners, where: { rank: { $foo: 1 } } } } } },
      102,
    ],
  ]);

  test('Records/Query sub-queries: the default limit of 100 does not apply inside', async () => {
    const [parents, children] = [tableName('Parents'), tableName('Children')];
    await defineTable(get(), parents, { n: 'Number' });
    const ids = await createMany(
      get(),
      parents,
      Array.from({ length: 150 }, (_, n) => ({ n })),
    );
    await createMany(
      get(),
      children,
      ids.map((id, n) => ({ k: `c${n}`, up: pointer(parents, id) })),
    );
    const where = { up: { $inQuery: { className: parents, where: { n: { $gte: 0 } } } } };
    assert.equal((await findNames(get(), children, { where, limit: 1000 })).length, 150);
  });

  test('Records/Query Pointer: the wire form is {__type: Pointer, className, objectId}', async () => {
    const [row] = await find(get(), things, { where: { k: 'a' } });
    assert.deepEqual(row?.owner, owner('owner00001'));
    assert.deepEqual(row?.seen, [owner('owner00002')]);
  });
});
