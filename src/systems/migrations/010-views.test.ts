import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyChange, emptySchema, type SchemaChange } from '../../schema/change.ts';
import { tableOf } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { views } from './010-views.ts';

const className = '_DynamicQueries';
const made: SchemaChange = { kind: 'createTable', className, fields: [{ name: 'Name', type: 'String' }] };

async function typesAfter(...changes: SchemaChange[]): Promise<Record<string, string>> {
  const schema = changes.reduce(applyChange, emptySchema);
  const plan = await views.prepare({} as Store);
  const after = plan(schema).changes.reduce(applyChange, schema);
  const fields = [...tableOf(after, className).fields.values()].filter(({ name }) => /^View/.test(name));
  return Object.fromEntries(fields.map(({ name, type }) => [name, type]));
}

test('saved reports get the field for how columns stand; one of another type under its name keeps its values under another', async () => {
  assert.deepEqual(await typesAfter(made), { View: 'Object' });
  assert.deepEqual(await typesAfter(made, { kind: 'addField', className, name: 'View', type: 'Object' }), { View: 'Object' });
  const strange: SchemaChange = { kind: 'addField', className, name: 'View', type: 'String' };
  assert.deepEqual(await typesAfter(made, strange), { View: 'Object', View_before: 'String' });
});

test('a system without the table stays as it is', async () => {
  const plan = await views.prepare({} as Store);
  assert.deepEqual(plan(emptySchema), { changes: [], mutations: [] });
});
