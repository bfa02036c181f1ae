/** The stages of a pipeline. Reference: aggregation.md#stages. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createEach, createMany, date, defineTable, onEachEngine, pointer, type Row, tableName } from '../support/query.ts';
import { aggregate, idOf, isoOf, type Pipeline } from './aggregate.ts';

type StageCase = [sentence: string, pipeline: Pipeline, expected: unknown[]];

onEachEngine((get) => {
  const table = tableName('Sales');
  const buyer = (id: string) => pointer('Buyers', id);
  before(async () => {
    await defineTable(get(), table, {
      k: 'String',
      city: 'String',
      n: 'Number',
      paid: 'Boolean',
      when: 'Date',
      owner: 'Pointer:Buyers',
      tags: 'Array',
      o: 'Object',
    });
    await createEach(get(), table, [
      {
        k: 'a',
        city: 'Haifa',
        n: 1,
        paid: true,
        when: date('2024-01-06T10:00:00.000Z'),
        owner: buyer('b1'),
        tags: ['x', 'y'],
        o: { q: 1 },
      },
      { k: 'b', city: 'Haifa', n: 2, paid: false, when: date('2024-01-07T23:59:59.999Z'), owner: buyer('b1'), tags: ['y'] },
      { k: 'c', city: 'Eilat', n: 10, when: date('2025-06-30T00:00:00.000Z'), owner: buyer('b2'), tags: [], o: { q: 3 } },
      { k: 'd', n: 5, paid: true },
      { k: 'e', city: 'Eilat' },
    ]);
  });
  const names = (rows: Row[]) => rows.map((row) => row.k);

  const selecting: [string, Pipeline, string][] = [
    ['$match', [{ $match: { city: 'Haifa' } }, { $sort: { k: 1 } }], 'a b'],
    ['$match takes the operators of where', [{ $match: { n: { $gt: 1, $lte: 5 } } }, { $sort: { k: 1 } }], 'b d'],
    ['$match with $or', [{ $match: { $or: [{ n: 1 }, { city: 'Eilat' }] } }, { $sort: { k: 1 } }], 'a c e'],
    ['$match: a Pointer uses the full Pointer object', [{ $match: { owner: buyer('b1') } }, { $sort: { k: 1 } }], 'a b'],
    ['$match: a Date uses the full Date object', [{ $match: { when: { $gte: date('2025-01-01T00:00:00.000Z') } } }], 'c'],
    ['$match on an Array matches an element', [{ $match: { tags: 'y' } }, { $sort: { k: 1 } }], 'a b'],
    ['$match with a dotted name', [{ $match: { 'o.q': { $gt: 1 } } }], 'c'],
    ['$sort ascending: absent values first', [{ $sort: { n: 1 } }], 'e a b d c'],
    ['$sort descending: absent values last', [{ $sort: { n: -1 } }], 'c d b a e'],
    ['$sort by two fields', [{ $match: { city: { $exists: true } } }, { $sort: { city: 1, n: -1 } }], 'c e b a'],
    ['$skip', [{ $sort: { k: 1 } }, { $skip: 3 }], 'd e'],
    ['$limit', [{ $sort: { k: 1 } }, { $limit: 2 }], 'a b'],
    ['$skip and $limit in the order given: skip first', [{ $sort: { k: 1 } }, { $skip: 1 }, { $limit: 2 }], 'b c'],
    ['$skip and $limit in the order given: limit first', [{ $sort: { k: 1 } }, { $limit: 2 }, { $skip: 1 }], 'b'],
    ['$match after $limit', [{ $sort: { k: 1 } }, { $limit: 2 }, { $match: { n: { $gt: 1 } } }], 'b'],
    ['two $match stages', [{ $match: { n: { $gt: 1 } } }, { $match: { n: { $lt: 10 } } }, { $sort: { k: 1 } }], 'b d'],
    ['an empty pipeline answers the records', [], 'a b c d e'],
  ];
  for (const [sentence, pipeline, expected] of selecting)
    test(`Aggregation ${sentence}`, async () => {
      assert.deepEqual(names(await aggregate(get(), table, pipeline)).join(' '), expected);
    });

  const shaping: StageCase[] = [
    ['$count', [{ $match: { city: 'Haifa' } }, { $count: 'total' }], [{ total: 2 }]],
    [
      '$unwind: one row for each element',
      [{ $unwind: '$tags' }, { $sort: { k: 1, tags: 1 } }, { $project: { objectId: 0, k: 1, tags: 1 } }],
      [
        { k: 'a', tags: 'x' },
        { k: 'a', tags: 'y' },
        { k: 'b', tags: 'y' },
      ],
    ],
    ['$unwind in the object form', [{ $unwind: { path: '$tags' } }, { $count: 'n' }], [{ n: 3 }]],
    [
      '$unwind with preserveNullAndEmptyArrays keeps records without elements',
      [{ $unwind: { path: '$tags', preserveNullAndEmptyArrays: true } }, { $count: 'n' }],
      [{ n: 6 }],
    ],
    [
      '$unwind then $group',
      [{ $unwind: '$tags' }, { $group: { _id: '$tags', n: { $sum: 1 } } }, { $sort: { n: 1 } }],
      [
        { objectId: 'x', n: 1 },
        { objectId: 'y', n: 2 },
      ],
    ],
    [
      '$project: inclusion, without the id',
      [{ $match: { k: 'a' } }, { $project: { objectId: 0, k: 1, n: 1 } }],
      [{ k: 'a', n: 1 }],
    ],
    ['$project: _id stands for objectId', [{ $match: { k: 'a' } }, { $project: { _id: 0, k: 1 } }], [{ k: 'a' }]],
    [
      '$project: a new name for a field',
      [{ $match: { k: 'a' } }, { $project: { objectId: 0, title: '$k', q: '$o.q' } }],
      [{ title: 'a', q: 1 }],
    ],
    [
      '$project: arithmetic',
      [
        { $match: { k: 'c' } },
        {
          $project: {
            objectId: 0,
            a: { $add: ['$n', 1] },
            s: { $subtract: ['$n', 1] },
            m: { $multiply: ['$n', 2] },
            d: { $divide: ['$n', 4] },
          },
        },
      ],
      [{ a: 11, s: 9, m: 20, d: 2.5 }],
    ],
    [
      '$project: $concat',
      [{ $match: { k: 'a' } }, { $project: { objectId: 0, text: { $concat: ['$k', '-', '$city'] } } }],
      [{ text: 'a-Haifa' }],
    ],
    [
      '$project: date parts',
      [{ $match: { k: 'a' } }, { $project: { objectId: 0, y: { $year: '$when' }, h: { $hour: '$when' } } }],
      [{ y: 2024, h: 10 }],
    ],
    [
      '$addFields: then used by later stages',
      [
        { $addFields: { twice: { $multiply: ['$n', 2] } } },
        { $match: { twice: { $gt: 9 } } },
        { $sort: { twice: -1 } },
        { $project: { objectId: 0, k: 1, twice: 1 } },
      ],
      [
        { k: 'c', twice: 20 },
        { k: 'd', twice: 10 },
      ],
    ],
    [
      '$project before $group: only what it kept is there',
      [{ $project: { n: 1 } }, { $group: { _id: '$city', n: { $sum: '$n' } } }],
      [{ objectId: null, n: 18 }],
    ],
  ];
  for (const [sentence, pipeline, expected] of shaping)
    test(`Aggregation ${sentence}`, async () => {
      assert.deepEqual(await aggregate(get(), table, pipeline), expected);
    });

  test('Aggregation $project: inclusion keeps the id and nothing else', async () => {
    const [row] = await aggregate(get(), table, [{ $match: { k: 'a' } }, { $project: { k: 1 } }]);
    assert.deepEqual([row?.k, typeof row?.objectId, row && 'n' in row, row && 'city' in row], ['a', 'string', false, false]);
  });
  test('Aggregation $project: exclusion keeps the rest', async () => {
    const [row] = await aggregate(get(), table, [{ $match: { k: 'a' } }, { $project: { n: 0, city: 0 } }]);
    assert.ok(row && !('n' in row) && !('city' in row));
    assert.deepEqual([row.k, row.paid, typeof row.objectId], ['a', true, 'string']);
  });
  test('Aggregation $addFields: adds to the record and keeps it', async () => {
    const [row] = await aggregate(get(), table, [{ $match: { k: 'a' } }, { $addFields: { copy: '$city' } }]);
    assert.deepEqual([row?.copy, row?.city, row?.k], ['Haifa', 'Haifa', 'a']);
  });
  test('Aggregation: records come out in wire form', async () => {
    const [row] = await aggregate(get(), table, [{ $match: { k: 'a' } }]);
    assert.equal(isoOf(row?.when), '2024-01-06T10:00:00.000Z');
    assert.equal(isoOf(row?.createdAt), row?.createdAt);
    assert.equal(idOf(row?.owner), 'b1');
    assert.deepEqual([row?.tags, row?.paid, row?.o], [['x', 'y'], true, { q: 1 }]);
  });
  test('Aggregation: an unknown field behaves as absent', async () => {
    assert.deepEqual(await aggregate(get(), table, [{ $group: { _id: '$nowhere', n: { $sum: '$none' } } }]), [
      { objectId: null, n: 0 },
    ]);
  });
  test('Aggregation: no default limit: all records count', async () => {
    const many = tableName('Many');
    await createMany(
      get(),
      many,
      Array.from({ length: 1500 }, (_, n) => ({ n: n % 3 })),
    );
    assert.deepEqual(await aggregate(get(), many, [{ $group: { _id: '$n', c: { $sum: 1 } } }, { $sort: { objectId: 1 } }]), [
      { objectId: 0, c: 500 },
      { objectId: 1, c: 500 },
      { objectId: 2, c: 500 },
    ]);
  });
});
