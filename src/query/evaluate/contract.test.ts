/** The evaluator passes the cases that the engines pass, and asks only for conditions that the record alone cannot decide. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterCases } from '../../storage/sql/testing/filter-cases.ts';
import { addFilterRecords } from '../../storage/sql/testing/filter-data.ts';
import { evaluatorOf } from '../../storage/sql/testing/filter-evaluated.ts';
import { TestTables } from '../../storage/sqlite/testing/tables.ts';

const others = new Set(['text', 'inQuery', 'select', 'relatedTo', 'hasMember']);

const tables = new TestTables();
await addFilterRecords(tables);
for (const [className, cases] of Object.entries(filterCases(tables))) {
  const find = await evaluatorOf(tables, className);
  for (const [name, filter, expected] of cases)
    test(`evaluate: ${name}`, async () => {
      const { found, asked } = await find(filter);
      assert.equal(found, expected);
      for (const { kind } of asked) assert.ok(others.has(kind), `asked for ${kind}`);
    });
}
