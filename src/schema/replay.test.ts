import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyChange, emptySchema, type SchemaChange } from './change.ts';
import type { Schema } from './model.ts';
import { changesTo, isSameSchema } from './replay.ts';

const made = (changes: readonly SchemaChange[], from: Schema = emptySchema) => changes.reduce(applyChange, from);

const history: SchemaChange[] = [
  { kind: 'createTable', className: 'Team' },
  { kind: 'createTable', className: 'team', fields: [{ name: 'gone', type: 'String' }] },
  { kind: 'addField', className: 'Team', name: 'name', type: 'String' },
  { kind: 'addField', className: 'Team', name: 'Name', type: 'Number' },
  { kind: 'addField', className: 'Team', name: 'leader', type: 'Pointer', targetClass: 'team' },
  { kind: 'addField', className: 'Team', name: 'members', type: 'Relation', targetClass: 'team' },
  { kind: 'dropField', className: 'team', name: 'gone' },
  { kind: 'addField', className: 'team', name: 'text', type: 'String' },
  { kind: 'addField', className: 'team', name: 'gone', type: 'Date' },
  { kind: 'setIndex', className: 'Team', index: { name: 'z', keys: [['Name', -1]] } },
  { kind: 'setIndex', className: 'Team', index: { name: 'a', keys: [['name', 1]] } },
  { kind: 'setFieldOptions', className: 'Team', name: 'Name', options: { required: true, defaultValue: 0 } },
  { kind: 'setUniqueIndex', className: 'Team', index: { name: 'a', fields: ['name', 'Name'] } },
  { kind: 'setUniqueIndex', className: 'Team', index: { name: 'b', fields: ['name'], as: 'nocase' } },
  { kind: 'setTextIndex', className: 'team', fields: ['text'] },
  { kind: 'setTemplateVersion', version: 3 },
];

test('the changes to a schema make the same schema, in the same order, whatever has become of it', () => {
  const schema = made(history);
  const copy = made(changesTo(schema));
  assert.ok(isSameSchema(copy, schema));
  const names = ({ tables }: Schema) =>
    Array.from(tables, ([name, { fields, indexes }]) => [name, [...fields.keys()], [...indexes.keys()]]);
  assert.deepEqual(names(copy), names(schema));
  assert.equal(copy.templateVersion, 3);
});

test('columns may be called otherwise: only what is said counts', () => {
  const renamed = made([
    { kind: 'createTable', className: 'T', fields: [{ name: 'old', type: 'String' }] },
    { kind: 'renameField', className: 'T', name: 'old', to: 'new' },
  ]);
  assert.ok(isSameSchema(renamed, made([{ kind: 'createTable', className: 'T', fields: [{ name: 'new', type: 'String' }] }])));
});

const differences: readonly SchemaChange[] = [
  { kind: 'createTable', className: 'More' },
  { kind: 'dropField', className: 'Team', name: 'members' },
  { kind: 'addField', className: 'Team', name: 'more', type: 'Array' },
  { kind: 'setIndex', className: 'Team', index: { name: 'a', keys: [['name', -1]] } },
  { kind: 'dropIndex', className: 'Team', name: 'z' },
  { kind: 'setFieldOptions', className: 'Team', name: 'Name', options: { required: true } },
  { kind: 'setFieldOptions', className: 'Team', name: 'Name', options: { required: true, defaultValue: '0' } },
  { kind: 'setUniqueIndex', className: 'Team', index: { name: 'b', fields: ['name'], as: 'phone' } },
  { kind: 'dropUniqueIndex', className: 'Team', name: 'a' },
  { kind: 'setFormerNames', className: 'Team', names: [['was', 'name']], logged: [] },
  { kind: 'setFormerNames', className: 'Team', names: [], logged: [['name', ['was']]] },
  { kind: 'setTextIndex', className: 'team', fields: [] },
  {
    kind: 'setPermissions',
    className: 'Team',
    permissions: { ...made(history).tables.get('Team')?.permissions, find: { '*': true } },
  },
  { kind: 'setTemplateVersion', version: 4 },
];
for (const change of differences)
  test(`schemas that differ by ${change.kind} are not the same`, () => {
    const schema = made(history);
    assert.ok(!isSameSchema(applyChange(schema, change), schema));
  });
