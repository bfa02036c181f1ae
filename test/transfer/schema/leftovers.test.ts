/** Schema as code of systems in which tables were deleted that others name. Reference: schema-as-code.md#tables. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { create, defineTable, onEachEngine, pointer } from '../../support/query.ts';
import type { Service } from '../../support/service.ts';
import { applied, apply, assertFails, changesOf, edit, exported, filesIn, newSystem } from './schemas.ts';

/** Makes a trigger of a table; returns its objectId. */
const makeTrigger = (system: Service, table: string, Name: string) =>
  create(system, '_Trigger', { Name, table, events: ['create'], criteria: {}, actions: [] });

onEachEngine((get) => {
  test('Apply: fields that point at a deleted table, or one that never was, and its trigger hinder no other system', async () => {
    const source = await newSystem(get());
    await defineTable(source, 'Places', { Name: 'String' });
    const fields = { At: { type: 'Pointer', targetClass: 'Places' }, All: { type: 'Relation', targetClass: 'Places' } };
    assert.equal((await source.call('POST', '/platform/schemas/Trips', { body: { fields } })).status, 200);
    await makeTrigger(source, 'Places', 'New place');
    await makeTrigger(source, 'Trips', 'New trip');
    assert.equal((await source.call('DELETE', '/platform/schemas/Places')).status, 200);
    await create(source, 'Trips', { By: pointer('NeverMade', 'abcdefghij') });
    const directory = await exported(source);
    const files = await filesIn(directory);
    assert.deepEqual(JSON.parse(files['tables/Trips.json'] as string).fields.By, {
      type: 'Pointer',
      targetClass: 'NeverMade',
      targetMissing: true,
    });
    assert.deepEqual(await changesOf(source, directory), []);
    const target = await newSystem(get());
    await applied(target, directory);
    assert.deepEqual(await changesOf(target, directory), []);
    assert.deepEqual(await filesIn(await exported(target)), files);
  });

  test('Apply: a trigger of a table that goes is refused, since it would be off afterwards', async () => {
    const system = await newSystem(get());
    await defineTable(system, 'Places', { Name: 'String' });
    await makeTrigger(system, 'Places', 'New place');
    const directory = await exported(system);
    const before = await filesIn(directory);
    await rm(join(directory, 'tables', 'Places.json'));
    await assertFails(
      apply(system, directory, '--allow-destructive'),
      /triggers\.json: have one of Places, a table that goes: New place/,
    );
    assert.deepEqual(await filesIn(await exported(system)), before);
    await edit(directory, 'triggers.json', () => []);
    await applied(system, directory, '--allow-destructive');
    assert.deepEqual(await changesOf(system, directory), []);
  });

  test('Apply: a step that fails is named, also if it is the only one', async () => {
    const system = await newSystem(get());
    const directory = await exported(system);
    await edit(directory, 'config.json', () =>
      JSON.parse('{"AcceptWebLeads":{"AcceptWebLeads":true},"__proto__":{"__proto__":true}}'),
    );
    await assertFails(
      apply(system, directory, '--parts', 'config'),
      /^record-service: flag __proto__: Invalid field name: __proto__/,
    );
  });
});
