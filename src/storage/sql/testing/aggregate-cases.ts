// Results of aggregations, for the unit tests of both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { only, total } from './aggregate-data.ts';
import { groups, projections, unwinds } from './aggregate-stages.ts';
import { expressions, matches } from './aggregate-values.ts';
import type { SalesTable } from './sales.ts';

const below = (levels: number) => ['o', ...Array.from({ length: levels }, () => 'k')].join('.');
const members = (count: number, make: (at: number) => readonly [string, JsonValue]) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => make(at)));
const ordered = (keys: number) => ({ $sort: members(keys, (at) => [`o.k${at}`, 1]) });

/** Pipelines with nearly the maximum number of parts, which return one row. */
const longest: Readonly<Record<string, JsonObject[]>> = {
  'many places to take out': [{ $project: members(490, (at) => [`o.k${at}`, 0]) }, { $limit: 1 }],
  'deep places to take out': [{ $project: members(11, (at) => [`${below(85)}.k${at}`, 0]) }, { $limit: 1 }],
  'deep places': [{ $addFields: members(11, (at) => [`x${at}`, `$${below(85)}.-${at}`]) }, { $limit: 1 }],
  'a long order for many groups': [ordered(15), total(members(50, (at) => [`x${at}`, { $first: '$n' }]))],
  'a long order for many stages': [ordered(15), ...Array(49).fill({ $limit: 1 })],
};

/** Defines the tests. @param sales a table with the records of aggregate-data.ts */
export function testAggregates(sales: SalesTable): void {
  for (const [title, cases] of Object.entries({ $group: groups, $unwind: unwinds, $project: projections, expressions }))
    for (const [sentence, pipeline, expected] of cases)
      test(`aggregate ${title}: ${sentence}`, async () => assert.deepEqual(await sales.pipeline(...pipeline), expected));

  for (const [sentence, match, found] of matches)
    test(`aggregate $match, over records and over rows: ${sentence}`, async () => {
      const names = async (...stages: JsonObject[]) => (await sales.pipeline(...stages)).map((row) => row.k).join('');
      assert.equal(await names({ $limit: 9 }, { $match: match }), found);
      // For records, a dotted name, a storage name and an ISO text mean the same.
      assert.equal(await names({ $match: match }), found);
    });

  test('aggregate: the short form', async () => {
    const group = { objectId: '$city', total: { $sum: '$n' } };
    assert.deepEqual(
      await sales.run({ group: JSON.stringify(group), sort: '{"total":-1}', limit: '1', where: '{"city":{"$exists":true}}' }),
      [{ objectId: 'Eilat', total: 10 }],
    );
    assert.deepEqual(await sales.run({ unwind: '$tags', count: 'n' }), [{ n: 4 }]);
  });

  for (const [sentence, pipeline] of Object.entries(longest))
    test(`aggregate: the SQL of ${sentence} grows with its parts alone`, async () => {
      assert.ok(sales.compile({ pipeline }).text.length < 500_000);
      assert.equal((await sales.pipeline(...pipeline)).length, 1);
    });

  test('aggregate: expressions that double from stage to stage do not grow', async () => {
    const doubling = Array.from({ length: 49 }, () => ({ $addFields: { n: { $add: ['$n', '$n'] } } }));
    const rows = await sales.pipeline(only('a'), ...doubling);
    assert.deepEqual(
      rows.map((row) => row.n),
      [2 ** 49],
    );
  });
}
