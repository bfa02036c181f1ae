// What aggregations answer, for the unit tests of both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../kernel/json.ts';
import { only } from './aggregate-data.ts';
import { groups, projections, unwinds } from './aggregate-stages.ts';
import { expressions, matches } from './aggregate-values.ts';
import type { SalesTable } from './sales.ts';

/** Defines the tests. @param sales a table of the records of aggregate-data.ts */
export function testAggregates(sales: SalesTable): void {
  for (const [title, cases] of Object.entries({ $group: groups, $unwind: unwinds, $project: projections, expressions }))
    for (const [sentence, pipeline, expected] of cases)
      test(`aggregate ${title}: ${sentence}`, async () => assert.deepEqual(await sales.pipeline(...pipeline), expected));

  for (const [sentence, match, found] of matches)
    test(`aggregate $match, over records and over rows: ${sentence}`, async () => {
      const names = async (...stages: JsonObject[]) => (await sales.pipeline(...stages)).map((row) => row.k).join('');
      assert.equal(await names({ $limit: 9 }, { $match: match }), found);
      // Over records a dotted name, a storage name and ISO text mean the same.
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

  test('aggregate: expressions that double from stage to stage do not grow', async () => {
    const doubling = Array.from({ length: 49 }, () => ({ $addFields: { n: { $add: ['$n', '$n'] } } }));
    const rows = await sales.pipeline(only('a'), ...doubling);
    assert.deepEqual(
      rows.map((row) => row.n),
      [2 ** 49],
    );
  });
}
