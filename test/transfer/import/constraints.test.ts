/** Imports into tables with unique indexes, required fields and defaults. Reference: import.md#rejected-rows, schemas.md#unique-indexes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, find, onEachEngine, type Row, tableName } from '../../support/query.ts';
import { counts, imported } from './import-jobs.ts';
import { importCsv, line } from './importing.ts';

onEachEngine((get) => {
  const newTable = async () => {
    const table = tableName('Guarded');
    const fields = {
      Code: { type: 'String' },
      Name: { type: 'String', required: true },
      State: { type: 'String', defaultValue: 'open' },
    };
    const body = { fields, uniqueIndexes: { code: { fields: ['Code'], as: 'nocase' } } };
    const answer = await get().call('POST', `/platform/schemas/${table}`, { body });
    assert.equal(answer.status, 200, answer.text);
    await create(get(), table, { Code: 'taken', Name: 'old' });
    return table;
  };
  const text = 'Code,Name,State\na,A,\nA,again,\nTaken,other,\nb,,\n,no code,closed\n,neither,\nc,C,\n';
  const expected = [
    ['A', 'a', 'open'],
    ['C', 'c', 'open'],
    ['neither', undefined, 'open'],
    ['no code', undefined, 'closed'],
    ['old', 'taken', 'open'],
  ];
  const stored = async (table: string) =>
    (await find(get(), table, { order: 'Name' })).map((row: Row) => [row.Name, row.Code, row.State]);

  test('Import: a row that an index or a required field refuses is rejected with the reason, and the others are made', async () => {
    const table = await newTable();
    const { code, stdout, stderr } = await importCsv(get(), table, text);
    assert.deepEqual([code, stdout], [2, line(4, 0, 3)], stderr);
    for (const row of [3, 4]) assert.match(stderr, new RegExp(`^row ${row}: 137: .*Code \\(unique index code\\)`, 'm'));
    assert.match(stderr, /^row 5: 142: Name is required/m);
    assert.deepEqual(await stored(table), expected);
  });

  test('Import job: the same', async () => {
    const table = await newTable();
    const job = await imported(get(), table, text);
    assert.deepEqual(counts(job), ['done', 7, 7, 4, 0, 3]);
    const rejects = (await get().call('GET', String(job.rejectedUrl).replace(/^https?:\/\/[^/]+/, ''))).text;
    assert.match(rejects, /unique index code/);
    assert.match(rejects, /Name is required/);
    assert.deepEqual(await stored(table), expected);
  });

  test('Import --match-on the fields of a unique index: updates that make a duplicate are rejected', async () => {
    const table = await newTable();
    await create(get(), table, { Code: 'b', Name: 'B' });
    const { code, stdout, stderr } = await importCsv(get(), table, 'Name,Code\nold,B\nB,c\nNew,d\n', '--match-on', 'Name');
    assert.deepEqual([code, stdout], [2, line(1, 1, 1)], stderr);
    assert.match(stderr, /^row 2: 137: .*unique index code/m);
  });
});
