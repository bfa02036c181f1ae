/** Fields that a role hides stay hidden in every tool, whatever other rights the caller has. Reference: permissions.md#protected-fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byUser } from '../callers.ts';
import { onEachEngine } from '../engines.ts';
import { permit } from '../tables.ts';

onEachEngine('hidden fields', (tools) => {
  test('a name that is hidden is left out for who may get records and not find them', async () => {
    const table = await tools.table({ Name: 'String' });
    const id = await tools.create(table, { Name: 'secret' });
    await permit(tools, table, {
      get: { 'role:Sales': true },
      create: { 'role:Sales': true },
      protectedFields: { '*': ['Name'] },
    });
    const { use, refused } = await byUser(tools, ['Sales']);
    const related = await use('Get-Related-Records', { table, objectId: id });
    assert.deepEqual([related.objectId, related.Name], [id, null]);
    await refused('Get-Data', { table }, 119, /action find on class/);
    await refused('Find-Duplicates', { table, name: 'secret' }, 119, /action find on class/);
  });
});
