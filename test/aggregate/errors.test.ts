/** Aggregations that are refused, and the rights that they need. Reference: aggregation.md#request. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertError, create, defineTable, find, onEachEngine, type Row, tableName } from '../support/query.ts';

type BadPipeline = [sentence: string, pipeline: unknown, text?: RegExp];

onEachEngine((get) => {
  const table = tableName('Sales');
  before(async () => {
    await defineTable(get(), table, { n: 'Number', city: 'String', tags: 'Array' });
    await create(get(), table, { n: 1, city: 'Haifa' });
  });
  const ask = (query: Row) => get().call('GET', `/platform/classes-aggregate/${table}`, { query });
  const lookup = { from: table, localField: 'n', foreignField: 'n', as: 'x' };

  const bad: BadPipeline[] = [
    ['$lookup', [{ $lookup: lookup }], /Invalid aggregate stage '\$?lookup'/],
    ['$out', [{ $out: 'x' }]],
    ['$merge', [{ $merge: 'x' }]],
    ['$facet', [{ $facet: { a: [] } }]],
    ['$unionWith', [{ $unionWith: '_User' }]],
    ['$graphLookup', [{ $graphLookup: lookup }]],
    ['an unknown stage', [{ $nonsense: {} }]],
    ['an inherited name as a stage', [{ constructor: {} }]],
    ['a stage with two keys', [{ $match: {}, $limit: 1 }], /only have one key/],
    ['a stage without a key', [{}]],
    ['a stage that is no object', ['$match']],
    ['a pipeline that is no array', 5],
    [
      'stages that double a text each',
      Array.from({ length: 40 }, (_, at) => {
        const of = at === 0 ? '$city' : '$x';
        return { $addFields: { x: { $concat: [of, of] } } };
      }),
    ],
    [
      'stages that double an array each, through a $group',
      Array.from({ length: 20 }, (_, at) => {
        const of = at === 0 ? '$tags' : '$x';
        return { $group: { _id: of, x: { $push: [of, of] } } };
      }),
    ],
    ['$group without _id', [{ $group: { n: { $sum: 1 } } }], /Missing key _id/],
    ['$group with an unknown accumulator', [{ $group: { _id: null, n: { $stdDevPop: '$n' } } }]],
    ['$group with a field that is no accumulator', [{ $group: { _id: null, n: '$n' } }]],
    ['$group with an unknown date part', [{ $group: { _id: { d: { $isoDay: '$createdAt' } } } }]],
    ['$limit below zero', [{ $limit: -1 }]],
    ['$limit that is no number', [{ $limit: 'x' }]],
    ['$skip below zero', [{ $skip: -1 }]],
    ['$skip that is no whole number', [{ $skip: 1.5 }]],
    ['$sort in a direction that is none', [{ $sort: { n: 2 } }]],
    ['$sort that is no object', [{ $sort: 'n' }]],
    ['$match with an unknown operator', [{ $match: { n: { $foo: 1 } } }]],
    ['$match with $where', [{ $match: { $where: 'true' } }]],
    ['$match with $expr of a function', [{ $match: { $expr: { $function: { body: 'x' } } } }]],
    ['$match with a bad pattern', [{ $match: { city: { $regex: '(' } } }]],
    ['$project with an unknown expression', [{ $project: { x: { $function: { body: 'x', args: [], lang: 'js' } } } }]],
    ['$unwind without a $ path', [{ $unwind: 'tags' }]],
    ['$count without a name', [{ $count: '' }]],
  ];
  for (const [sentence, pipeline, text] of bad)
    test(`Aggregation errors: ${sentence} is 102`, async () => {
      assertError(await ask({ pipeline: JSON.stringify(pipeline) }), 400, 102, text);
    });
  test('Aggregation errors: a pipeline that is not JSON is a 400', async () => {
    assert.equal((await ask({ pipeline: '[{' })).status, 400);
  });
  test('Aggregation errors: an unknown parameter is 102', async () => {
    assertError(await ask({ pipeline: '[]', foo: 1 }), 400, 102, /Invalid parameter for query: foo/);
  });
  test('Aggregation errors: short form, group= without a key is 102', async () => {
    assertError(await ask({ group: { n: { $sum: 1 } } }), 400, 102, /Missing key/);
  });

  for (const name of ['n" --', "n'; DROP TABLE x", 'a b', '__proto__', 'constructor'])
    test(`Aggregation: a hostile name is bound or refused, never a fault: ${name}`, async () => {
      for (const pipeline of [
        [{ $group: { _id: `$${name}`, n: { $sum: 1 } } }],
        [{ $group: { _id: null, [name]: { $sum: `$${name}` } } }],
        [{ $sort: { [name]: 1 } }],
        [{ $project: { [name]: 1 } }],
        [{ $addFields: { [name]: '$n' } }],
        [{ $count: name }],
      ])
        assert.ok((await ask({ pipeline })).status < 500, JSON.stringify(pipeline));
      assert.equal((await find(get(), table)).length, 1);
    });

  const pipeline = '[{"$group":{"_id":null,"n":{"$sum":1}}}]';
  const path = `/platform/classes-aggregate/${table}`;
  test('Aggregation: works with an API key', async () => {
    const answer = await get().call('GET', path, { as: 'apiKey', query: { pipeline } });
    assert.deepEqual([answer.status, answer.body], [200, { results: [{ objectId: null, n: 1 }] }]);
  });
  test('Aggregation: works with the master key', async () => {
    assert.equal((await get().call('GET', path, { query: { pipeline } })).status, 200);
  });
  test('Aggregation: anonymous gets code 119', async () => {
    assertError(await get().call('GET', path, { as: 'anonymous', query: { pipeline } }), 400, 119);
  });
  test('Aggregation: anonymous gets code 119 on a table whose find is open to everyone, too', async () => {
    const open = tableName('Open');
    await defineTable(get(), open, { n: 'Number' }, { classLevelPermissions: { find: { '*': true }, get: { '*': true } } });
    const answer = await get().call('GET', `/platform/classes-aggregate/${open}`, { as: 'anonymous', query: { pipeline } });
    assertError(answer, 400, 119);
  });
  test('Aggregation: a key under the wrong header name gets 119', async () => {
    for (const headers of [{ 'X-Platform-API-Key': get().masterKey }, { 'X-Platform-Master-Key': get().apiKey }] as Record<
      string,
      string
    >[])
      assertError(
        await get().call('GET', path, { as: 'anonymous', headers, query: { pipeline } }),
        400,
        119,
        /^Permission denied for action/,
      );
  });
  test('Aggregation: the generic aggregate/ path does not exist (404)', async () => {
    const answer = await get().call('GET', `/platform/aggregate/${table}`, { query: { pipeline } });
    assert.equal(answer.status, 404);
    assert.equal(answer.body.error, 'Not found.');
  });
  test('Aggregation: a table that does not exist has no rows, and is not created', async () => {
    const none = tableName('None');
    const answer = await get().call('GET', `/platform/classes-aggregate/${none}`, { query: { pipeline } });
    assert.deepEqual([answer.status, answer.body], [200, { results: [] }]);
    assertError(await get().call('GET', `/platform/schemas/${none}`), 400, 103);
  });
});
