/** Required fields, default values and unique indexes in snapshots. Reference: schema-as-code.md#tables. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertError, create, createEach, find, onEachEngine, pointer } from '../../support/query.ts';
import type { Service } from '../../support/service.ts';
import { applied, apply, assertFails, changesOf, edit, exported, filesIn, type Json, newSystem } from './schemas.ts';

onEachEngine((get) => {
  let source: Service;
  let directory: string;
  before(async () => {
    source = await newSystem(get());
    const [status] = await find(source, 'TaskStatuses', { order: 'Name' });
    const fields = {
      Name: { type: 'String', required: true },
      Number: { type: 'String' },
      Phone: { type: 'String' },
      Rank: { type: 'Number', defaultValue: 0 },
      StatusId: { type: 'Pointer', targetClass: 'TaskStatuses', defaultValue: pointer('TaskStatuses', String(status?.objectId)) },
      Tags: { type: 'Array', required: true, defaultValue: ['new'] },
    };
    const uniqueIndexes = { byNumber: { fields: ['Number'] }, byPhone: { fields: ['Phone', 'Number'], as: 'phone' } };
    const made = await source.call('POST', '/platform/schemas/Parcels', { body: { fields, uniqueIndexes } });
    assert.equal(made.status, 200, made.text);
    directory = await exported(source);
  });

  test('Apply: a new system gets them, and its export has the same bytes', async () => {
    const { fields, uniqueIndexes } = JSON.parse((await filesIn(directory))['tables/Parcels.json'] as string);
    assert.deepEqual(fields.Name, { type: 'String', required: true });
    assert.deepEqual(Object.keys(fields.StatusId.defaultValue), ['__type', 'className', 'Name']);
    assert.deepEqual(uniqueIndexes.byPhone, { fields: ['Phone', 'Number'], as: 'phone' });
    const target = await newSystem(get());
    await applied(target, directory);
    assert.deepEqual(await changesOf(target, directory), []);
    assert.deepEqual(await filesIn(await exported(target)), await filesIn(directory));
    assertError(await target.call('POST', '/platform/classes/Parcels', { body: { Number: '1' } }), 400, 142);
    const id = await create(target, 'Parcels', { Name: 'a', Number: '1' });
    const [row] = (await find(target, 'Parcels', { where: { objectId: id } })) as Json[];
    const [status] = await find(target, 'TaskStatuses', { order: 'Name' });
    assert.deepEqual([row.Rank, row.Tags, row.StatusId.objectId], [0, ['new'], status?.objectId]);
    assertError(await target.call('POST', '/platform/classes/Parcels', { body: { Name: 'b', Number: '1' } }), 400, 137);
  });

  test('Diff: each change of them is a line; applied, there is no difference', async () => {
    const target = await newSystem(get());
    await applied(target, directory);
    const changed = await exported(target);
    await edit(changed, 'tables/Parcels.json', ({ fields, uniqueIndexes }) => {
      delete fields.Name.required;
      fields.Number.required = true;
      fields.Rank.defaultValue = 5;
      delete fields.Tags.defaultValue;
      fields.Code = { type: 'String', required: true, defaultValue: 'x' };
      uniqueIndexes.byNumber.as = 'nocase';
      delete uniqueIndexes.byPhone;
      uniqueIndexes.byCode = { fields: ['Code', 'Number'] };
    });
    assert.deepEqual(await changesOf(target, changed), [
      '+ Parcels.Code String, required, default "x"',
      '~ Parcels.Name: not required, no default',
      '~ Parcels.Number: required, no default',
      '~ Parcels.Rank: not required, default 5',
      '~ Parcels.Tags: required, no default',
      '~ Parcels: unique index byCode',
      '~ Parcels: unique index byNumber',
      '~ Parcels: unique index byPhone goes',
      '8 changes, 0 destructive',
    ]);
    await applied(target, changed);
    assert.deepEqual(await changesOf(target, changed), []);
    assert.deepEqual(JSON.parse((await filesIn(await exported(target)))['tables/Parcels.json'] as string).uniqueIndexes, {
      byCode: { fields: ['Code', 'Number'] },
      byNumber: { fields: ['Number'], as: 'nocase' },
    });
  });

  test('Apply: records that contradict a constraint refuse everything, and the table is named', async () => {
    const target = await newSystem(get());
    await applied(target, directory);
    await createEach(target, 'Parcels', [
      { Name: 'a', Phone: 'x', Rank: 1 },
      { Name: 'b', Phone: 'y', Rank: 1 },
    ]);
    const before = await filesIn(await exported(target));
    const cases: [change: (table: Json) => void, says: RegExp][] = [
      [({ uniqueIndexes }) => Object.assign(uniqueIndexes, { byRank: { fields: ['Rank'] } }), /^record-service: Parcels: .*Rank/],
      [({ fields }) => Object.assign(fields.Number, { required: true }), /^record-service: Parcels: .*Number/],
      [({ fields }) => Object.assign(fields.Rank, { defaultValue: 'many' }), /^record-service: Parcels: .*Rank/],
      [({ uniqueIndexes }) => Object.assign(uniqueIndexes, { byTags: { fields: ['Tags'] } }), /^record-service: Parcels: .*Tags/],
    ];
    for (const [change, says] of cases) {
      const changed = await exported(target);
      await edit(changed, 'tables/Parcels.json', (table) => {
        change(table);
      });
      await edit(changed, 'roles.json', (roles) => ({ ...roles, Packer: {} }));
      await assertFails(apply(target, changed), says);
      assert.deepEqual(await filesIn(await exported(target)), before);
    }
  });
});
