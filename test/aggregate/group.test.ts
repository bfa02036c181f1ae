/** $group, its keys, accumulators and date parts, and the short form. Reference: aggregation.md#accumulators, aggregation.md#short-form. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createEach, date, defineTable, onEachEngine, pointer, type Row, tableName } from '../support/query.ts';
import { aggregate, idOf, isoOf, type Pipeline } from './aggregate.ts';

type GroupCase = [sentence: string, pipeline: Pipeline, expected: unknown[]];
const byKey = { $sort: { objectId: 1 } };

onEachEngine((get) => {
  const table = tableName('Sales');
  const buyer = (id: string) => pointer('Buyers', id);
  before(async () => {
    await defineTable(get(), table, {
      k: 'String',
      city: 'String',
      n: 'Number',
      p: 'Number',
      paid: 'Boolean',
      when: 'Date',
      owner: 'Pointer:Buyers',
    });
    await createEach(get(), table, [
      { k: 'a', city: 'Haifa', n: 1, p: 2, paid: true, when: date('2024-01-06T10:00:00.000Z'), owner: buyer('b1') },
      { k: 'b', city: 'Haifa', n: 2, p: 3, paid: false, when: date('2024-01-07T23:59:59.999Z'), owner: buyer('b1') },
      { k: 'c', city: 'Eilat', n: 10, p: 0.5, when: date('2025-06-30T00:00:00.000Z'), owner: buyer('b2') },
      { k: 'd', n: 5, paid: true },
      { k: 'e', city: 'Eilat', n: 2 },
      { k: 'f', city: 'Jaffa' },
    ]);
  });
  const cities = (n: Row): Pipeline => [
    { $match: { city: { $exists: true } } },
    { $sort: { k: 1 } },
    { $group: { _id: '$city', n } },
    byKey,
  ];
  const rows = (...values: unknown[]) => ['Eilat', 'Haifa', 'Jaffa'].map((objectId, at) => ({ objectId, n: values[at] }));

  const cases: GroupCase[] = [
    ['group keys come back as objectId', cities({ $sum: 1 }), rows(2, 2, 1)],
    ['$sum of a field', cities({ $sum: '$n' }), rows(12, 3, 0)],
    ['$sum of an expression', cities({ $sum: { $multiply: ['$n', '$p'] } }), rows(5, 8, 0)],
    ['$avg passes over absent values', cities({ $avg: '$n' }), rows(6, 1.5, null)],
    ['$min', cities({ $min: '$n' }), rows(2, 1, null)],
    ['$max', cities({ $max: '$n' }), rows(10, 2, null)],
    ['$min of Strings', cities({ $min: '$k' }), rows('c', 'a', 'f')],
    ['$first follows the $sort before it', cities({ $first: '$k' }), rows('c', 'a', 'f')],
    ['$last follows the $sort before it', cities({ $last: '$k' }), rows('e', 'b', 'f')],
    ['$push keeps the order', cities({ $push: '$k' }), rows(['c', 'e'], ['a', 'b'], ['f'])],
    ['$push passes over absent values', cities({ $push: '$p' }), rows([0.5], [2, 3], [])],
    ['$count', cities({ $count: {} }), rows(2, 2, 1)],
    ['_id null: one group', [{ $group: { _id: null, n: { $sum: '$n' } } }], [{ objectId: null, n: 20 }]],
    [
      'a record without the field belongs to the null group',
      [{ $group: { _id: '$city', n: { $sum: 1 } } }, { $match: { n: 1 } }, byKey],
      [
        { objectId: null, n: 1 },
        { objectId: 'Jaffa', n: 1 },
      ],
    ],
    [
      'a Boolean key',
      [{ $match: { paid: { $exists: true } } }, { $group: { _id: '$paid', n: { $sum: 1 } } }, { $sort: { n: 1 } }],
      [
        { objectId: false, n: 1 },
        { objectId: true, n: 2 },
      ],
    ],
    [
      'a Number key',
      [{ $match: { n: { $lt: 5 } } }, { $group: { _id: '$n', c: { $sum: 1 } } }, byKey],
      [
        { objectId: 1, c: 1 },
        { objectId: 2, c: 2 },
      ],
    ],
    [
      'an object of fields',
      [
        { $match: { paid: { $exists: true }, city: { $exists: true } } },
        { $group: { _id: { city: '$city', paid: '$paid' }, n: { $sum: '$n' } } },
        { $sort: { n: 1 } },
      ],
      [
        { objectId: { city: 'Haifa', paid: true }, n: 1 },
        { objectId: { city: 'Haifa', paid: false }, n: 2 },
      ],
    ],
    [
      'date parts $year $month $dayOfMonth $hour, in UTC',
      [
        { $match: { when: { $exists: true } } },
        {
          $group: {
            _id: { y: { $year: '$when' }, m: { $month: '$when' }, d: { $dayOfMonth: '$when' }, h: { $hour: '$when' } },
            n: { $sum: '$n' },
          },
        },
        { $sort: { n: 1 } },
      ],
      [
        { objectId: { y: 2024, m: 1, d: 6, h: 10 }, n: 1 },
        { objectId: { y: 2024, m: 1, d: 7, h: 23 }, n: 2 },
        { objectId: { y: 2025, m: 6, d: 30, h: 0 }, n: 10 },
      ],
    ],
    [
      '$week: weeks begin on Sunday, days before the first Sunday are week 0',
      [
        { $match: { when: { $exists: true } } },
        { $group: { _id: { w: { $week: '$when' } }, n: { $sum: '$n' } } },
        { $sort: { n: 1 } },
      ],
      [
        { objectId: { w: 0 }, n: 1 },
        { objectId: { w: 1 }, n: 2 },
        { objectId: { w: 26 }, n: 10 },
      ],
    ],
    [
      'several accumulators',
      [{ $match: { city: 'Haifa' } }, { $group: { _id: '$city', s: { $sum: '$n' }, a: { $avg: '$p' }, c: { $count: {} } } }],
      [{ objectId: 'Haifa', s: 3, a: 2.5, c: 2 }],
    ],
    [
      '$match after $group works on its results',
      [...cities({ $sum: '$n' }), { $match: { n: { $gt: 5 } } }],
      [{ objectId: 'Eilat', n: 12 }],
    ],
    [
      '$match after $group on the key',
      [...cities({ $sum: 1 }), { $match: { objectId: 'Jaffa' } }],
      [{ objectId: 'Jaffa', n: 1 }],
    ],
    [
      '_id names the key in later stages too',
      [...cities({ $sum: 1 }), { $sort: { _id: -1 } }, { $limit: 1 }],
      [{ objectId: 'Jaffa', n: 1 }],
    ],
    [
      '$group after $group',
      [...cities({ $sum: 1 }), { $group: { _id: '$n', c: { $sum: 1 } } }, byKey],
      [
        { objectId: 1, c: 1 },
        { objectId: 2, c: 2 },
      ],
    ],
    [
      '$project after $group',
      [...cities({ $sum: '$n' }), { $limit: 1 }, { $project: { _id: 0, total: '$n', city: '$_id' } }],
      [{ total: 12, city: 'Eilat' }],
    ],
    [
      '$group with a key only',
      [{ $group: { _id: '$city' } }, byKey, { $skip: 1 }],
      ['Eilat', 'Haifa', 'Jaffa'].map((objectId) => ({ objectId })),
    ],
    ['$group of nothing has no groups', [{ $match: { k: 'none' } }, { $group: { _id: null, n: { $sum: 1 } } }], []],
  ];
  for (const [sentence, pipeline, expected] of cases)
    test(`Aggregation $group: ${sentence}`, async () => {
      assert.deepEqual(await aggregate(get(), table, pipeline), expected);
    });

  test('Aggregation $group: $addToSet holds each value once', async () => {
    const [row] = await aggregate(get(), table, [{ $group: { _id: null, set: { $addToSet: '$city' } } }]);
    assert.deepEqual([...((row?.set ?? []) as string[])].sort(), ['Eilat', 'Haifa', 'Jaffa']);
  });
  for (const field of ['$owner', '$_p_owner'])
    test(`Aggregation $group: a Pointer key: ${field}`, async () => {
      const pipeline = [
        { $match: { owner: { $exists: true } } },
        { $group: { _id: field, n: { $sum: 1 } } },
        { $sort: { n: -1 } },
      ];
      const answer = await aggregate(get(), table, pipeline);
      assert.deepEqual(
        answer.map((row) => [idOf(row.objectId), row.n]),
        [
          ['b1', 2],
          ['b2', 1],
        ],
      );
    });
  test('Aggregation $group: $min and $max of Dates', async () => {
    const [row] = await aggregate(get(), table, [{ $group: { _id: null, first: { $min: '$when' }, last: { $max: '$when' } } }]);
    assert.deepEqual([isoOf(row?.first), isoOf(row?.last)], ['2024-01-06T10:00:00.000Z', '2025-06-30T00:00:00.000Z']);
  });
  test('Aggregation $group: $max of createdAt', async () => {
    const [row] = await aggregate(get(), table, [{ $group: { _id: null, last: { $max: '$createdAt' } } }]);
    assert.match(String(isoOf(row?.last)), /^20\d\d-.*Z$/);
  });

  const short = async (query: Row) => {
    const answer = await get().call('GET', `/platform/classes-aggregate/${table}`, { query });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.results as Row[];
  };
  const total = { total: { $sum: '$n' } };
  for (const key of ['objectId', '_id'])
    test(`Aggregation short form: group= with ${key}, where= and sort=`, async () => {
      const where = { city: { $exists: true } };
      assert.deepEqual(await short({ group: { [key]: '$city', ...total }, where, sort: { total: -1 } }), [
        { objectId: 'Eilat', total: 12 },
        { objectId: 'Haifa', total: 3 },
        { objectId: 'Jaffa', total: 0 },
      ]);
    });
  test('Aggregation short form: limit=', async () => {
    assert.deepEqual(await short({ group: { objectId: '$city', ...total }, sort: { total: -1 }, limit: 1 }), [
      { objectId: 'Eilat', total: 12 },
    ]);
  });
  test('Aggregation short form: sort= and project= as lists of names', async () => {
    const rows = await short({ where: { city: 'Haifa' }, sort: '-k', project: 'k,city' });
    assert.deepEqual(
      rows.map(({ objectId, ...row }) => row),
      [
        { k: 'b', city: 'Haifa' },
        { k: 'a', city: 'Haifa' },
      ],
    );
  });
  test('Aggregation short form: where= alone selects records', async () => {
    assert.deepEqual(
      (await short({ where: { city: 'Haifa' }, sort: { k: -1 } })).map((row) => row.k),
      ['b', 'a'],
    );
  });
  test('Aggregation short form: project=', async () => {
    assert.deepEqual(await short({ where: { k: 'a' }, project: { objectId: 0, k: 1 } }), [{ k: 'a' }]);
  });
  test('Aggregation: where= goes before a pipeline', async () => {
    const pipeline = [{ $group: { _id: null, n: { $sum: 1 } } }];
    assert.deepEqual(await aggregate(get(), table, pipeline, { where: { city: 'Haifa' } }), [{ objectId: null, n: 2 }]);
  });
});
