/** Tools on unique indexes, required fields and defaults. Reference: schemas.md#unique-indexes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { unique, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { byKey } from '../callers.ts';

for (const engine of sampledEngines())
  describe(`constraints and tools on ${engine}`, () => {
    const store = useStore(engine);
    const { use, refused } = byKey(store);
    const newTable = async () => {
      const table = unique('T');
      const fields = [
        { name: 'Name', type: 'String', required: true },
        { name: 'Code', type: 'String' },
        { name: 'State', type: 'String', defaultValue: 'open' },
      ];
      await use('Create-Table', { className: table, fields });
      const uniqueIndexes = { code: { fields: ['Code'], as: 'nocase' } };
      assert.equal((await store.call('PUT', `/platform/schemas/${table}`, { body: { uniqueIndexes } })).status, 200);
      return table;
    };
    const duplicate = /^Another record has this value of Code \(unique index code\) \(code 137\)/;

    test('Get-Schema shows them', async () => {
      const table = await newTable();
      const { fields, uniqueIndexes } = await use('Get-Schema', { className: table });
      assert.deepEqual([fields.Name.required, fields.State.defaultValue], [true, 'open']);
      assert.deepEqual(uniqueIndexes, { code: { fields: ['Code'], as: 'nocase' } });
    });

    test('Create-Record, Update-Record, Upsert-Record: the error names field and index, and defaults are filled in', async () => {
      const table = await newTable();
      await refused('Create-Record', { table, data: { Code: 'a' } }, 142, /^Name is required \(code 142\)/);
      const { objectId } = await use('Create-Record', { table, data: { Name: 'A', Code: 'a' } });
      assert.equal((await store.read(table, objectId)).State, 'open');
      await refused('Create-Record', { table, data: { Name: 'B', Code: 'A' } }, 137, duplicate);
      const other = await store.create(table, { Name: 'B', Code: 'b' });
      await refused('Update-Record', { table, objectId: other, data: { Code: 'A' } }, 137, duplicate);
      await refused('Update-Record', { table, objectId: other, data: { Name: '' } }, 142, /^Name is required/);
      await refused('Upsert-Record', { table, matchOn: ['Name'], data: { Name: 'C', Code: 'B' } }, 137, duplicate);
      await use('Upsert-Record', { table, matchOn: ['Name'], data: { Name: 'C', Code: 'c' } });
      assert.deepEqual(
        (await store.all(table)).map(({ State }) => State),
        ['open', 'open', 'open'],
      );
    });

    test('Import-Records and Validate-Records say which rows fail, and why', async () => {
      const table = await newTable();
      const rows = [{ Name: 'A', Code: 'a' }, { Name: 'B', Code: 'A' }, { Code: 'c' }, { Name: 'D', Code: 'd' }];
      const checked = JSON.stringify(await use('Validate-Records', { table, data: rows }));
      assert.match(checked, /Name is required/);
      const imported = await use('Import-Records', { table, rows });
      assert.deepEqual([imported.created, imported.failed], [2, 2]);
      assert.match(JSON.stringify(imported), /unique index code/);
      assert.match(JSON.stringify(imported), /Name is required/);
      assert.deepEqual(
        (await store.all(table)).map(({ Name, State }) => [Name, State]),
        [
          ['A', 'open'],
          ['D', 'open'],
        ],
      );
    });

    test('Add-Fields: new fields with options; those of a field that is there stay', async () => {
      const table = await newTable();
      await store.create(table, { Name: 'A' });
      const lacking = { className: table, fields: [{ name: 'More', type: 'Number', required: true }] };
      await refused('Add-Fields', lacking, 142, /^More cannot be required: 1 record lacks it/);
      const fields = [
        { name: 'Name', type: 'String', required: false },
        { name: 'More', type: 'Number', defaultValue: 7 },
      ];
      assert.deepEqual(await use('Add-Fields', { className: table, fields }), {
        className: table,
        added: ['More'],
        passedOver: ['Name'],
      });
      assert.deepEqual((await store.fields(table)).Name.required, true);
      assert.equal((await store.read(table, await store.create(table, { Name: 'B' }))).More, 7);
    });
  });
