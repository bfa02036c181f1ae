/** `POST import/{Table}`: what becomes of rows, as the command has it (CONTRACT "Export, import, migration"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineTable, find, onEachEngine, tableName } from '../support/query.ts';
import { counts, imported, rejectedOf } from './import-jobs.ts';

const ndjson = { 'content-type': 'application/x-ndjson' };
const linesOf = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

onEachEngine((get) => {
  test('Import job: a dry run judges rows by the fields that rows long before them would have made', async () => {
    const rows = Array.from({ length: 300 }, (_, n) => ({
      Name: `row ${n}`,
      ...(n === 0 && { First: 1 }),
      ...(n === 60 && { Later: { __type: 'Pointer', className: '_User', objectId: 'somebody00' } }),
      ...(n === 130 && { First: 'no number' }),
      ...(n === 200 && { First: 2, Later: 'no pointer' }),
      ...(n === 201 && { First: 3, Later: { __type: 'Pointer', className: '_Role', objectId: 'somerole00' } }),
      ...(n === 299 && { First: { a: 1 } }),
    }));
    for (const isThere of [true, false]) {
      const table = tableName('Grown');
      if (isThere) await defineTable(get(), table, { Name: 'String' });
      const told: unknown[] = [];
      for (const dryRun of [true, true, false]) {
        const job = await imported(get(), table, linesOf(rows), { query: { newFields: true, dryRun }, headers: ndjson });
        assert.deepEqual(counts(job), ['done', 300, 300, 296, 0, 4], JSON.stringify([dryRun, await rejectedOf(get(), job)]));
        const rejected = await rejectedOf(get(), job);
        assert.deepEqual(
          rejected.map(({ line, code }) => [line, code]),
          [131, 201, 202, 300].map((line) => [line, 111]),
        );
        told.push(rejected);
        const { body } = await get().call('GET', `/platform/schemas/${table}`);
        assert.equal(body.fields?.First?.type, dryRun ? undefined : 'Number', JSON.stringify(body));
      }
      assert.deepEqual(told[0], told[2]);
      assert.deepEqual(told[1], told[2]);
      assert.equal((await find(get(), table, { limit: 1_000 })).length, 296);
    }
  });
});
