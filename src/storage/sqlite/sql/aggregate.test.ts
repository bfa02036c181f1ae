import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAggregates } from '../../sql/testing/aggregate-cases.ts';
import { records } from '../../sql/testing/aggregate-data.ts';
import { SalesTable } from '../../sql/testing/sales.ts';
import { TestTables } from '../testing/tables.ts';
import { sqliteAggregate } from './aggregate.ts';

testAggregates(await SalesTable.make(new TestTables(), sqliteAggregate, records));

test('aggregate: rows that multiply meet the time limit', async () => {
  let left = 50;
  const stop = new Error('time is up');
  const tick = () => {
    left -= 1;
    if (left < 0) throw stop;
  };
  const elements = [{ tags: Array.from({ length: 100 }, (_, at) => at) }];
  const many = await SalesTable.make(new TestTables(tick), sqliteAggregate, elements);
  const copies = ['a', 'b', 'c', 'd', 'f'];
  const pipeline = [
    { $addFields: Object.fromEntries(copies.map((name) => [name, '$tags'])) },
    ...copies.map((name) => ({ $unwind: `$${name}` })),
    { $count: 'n' },
  ];
  await assert.rejects(many.pipeline(...pipeline), stop);
});
