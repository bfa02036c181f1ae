import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyChange, applyChanges, emptySchema, type SchemaChange, stepsOf } from './change.ts';
import { tableOf } from './model.ts';
import { isSameSchema } from './replay.ts';

const add = (className: string, name: string): SchemaChange => ({ kind: 'addField', className, name, type: 'String' });
const drop = (className: string, name: string): SchemaChange => ({ kind: 'dropField', className, name });
const tables: SchemaChange[] = ['A', 'B'].map((className) => ({ kind: 'createTable', className }));

test('fields that one table gets or loses one after the other are one step; the order of all others stays', () => {
  const many = Array.from({ length: 1_500 }, (_, n) => add('A', `f${n}`));
  const changes = [...tables, ...many, add('B', 'x'), add('A', 'y'), drop('A', 'f1'), drop('A', 'f2'), add('A', 'f1')];
  assert.deepEqual(
    stepsOf(changes).map((step) => [
      step.kind,
      step.kind === 'addFields' ? step.fields.length : step.kind === 'dropFields' ? step.names : '',
    ]),
    [
      ['createTable', ''],
      ['createTable', ''],
      ['addFields', 1_500],
      ['addFields', 1],
      ['addFields', 1],
      ['dropFields', ['f1', 'f2']],
      ['addFields', 1],
    ],
  );
});

test('renames, and options, of one table one after the other are one step; a name that is new or left begins another', () => {
  const rename = (name: string, to: string): SchemaChange => ({ kind: 'renameField', className: 'A', name, to });
  const option = (name: string): SchemaChange => ({ kind: 'setFieldOptions', className: 'A', name, options: { required: true } });
  const many = Array.from({ length: 1_500 }, (_, n) => `f${n}`);
  const before = [...tables, ...many.map((name) => add('A', name)), add('A', 'x'), add('A', 'y')];
  const renames = [...many.map((name) => rename(name, `${name}a`)), rename('x', 'z'), rename('z', 'x'), rename('y', 'z')];
  const changes = [...before, ...renames, ...many.map((name) => option(`${name}a`)), option('z')];
  assert.deepEqual(
    stepsOf(changes)
      .slice(3)
      .map((step) => [step.kind, step.kind === 'renameFields' ? step.names.size : '']),
    [
      ['renameFields', 1_501],
      ['renameFields', 1],
      ['renameFields', 1],
      ['setFieldsOptions', ''],
    ],
  );
  const some = [...tables, add('A', 'f0'), add('A', 'x'), add('A', 'y'), rename('f0', 'f0a'), ...renames.slice(-3), option('x')];
  assert.ok(isSameSchema(applyChanges(emptySchema, some), some.reduce(applyChange, emptySchema)));
  assert.deepEqual([...tableOf(applyChanges(emptySchema, some), 'A').fields.keys()].slice(-3), ['f0a', 'x', 'z']);
});

test('all changes together make what they make one by one', () => {
  const changes = [...tables, add('A', 'a'), add('A', 'A'), add('B', 'b'), drop('A', 'a'), drop('B', 'b'), add('A', 'a')];
  assert.ok(isSameSchema(applyChanges(emptySchema, changes), changes.reduce(applyChange, emptySchema)));
});

test('unique indexes follow their fields, and options stay with a renamed one', () => {
  const schema = applyChanges(emptySchema, [
    ...tables,
    { ...add('A', 'a'), required: true, defaultValue: 'x' } as SchemaChange,
    add('A', 'b'),
    { kind: 'setUniqueIndex', className: 'A', index: { name: 'one', fields: ['a'], as: 'phone' } },
    { kind: 'setUniqueIndex', className: 'A', index: { name: 'both', fields: ['b', 'a'] } },
    { kind: 'renameField', className: 'A', name: 'a', to: 'c' },
  ]);
  const { fields, uniqueIndexes } = tableOf(schema, 'A');
  assert.deepEqual(fields.get('c'), { name: 'c', type: 'String', column: 'a', required: true, defaultValue: 'x' });
  assert.deepEqual(
    [...uniqueIndexes.values()],
    [
      { name: 'one', fields: ['c'], as: 'phone' },
      { name: 'both', fields: ['b', 'c'] },
    ],
  );
  const without = applyChange(schema, drop('A', 'b'));
  assert.deepEqual([...tableOf(without, 'A').uniqueIndexes.keys()], ['one']);
});

test('changes together give the same schema as one by one, with the same free names', () => {
  const create = (className: string): SchemaChange => ({ kind: 'createTable', className });
  const remove = (className: string): SchemaChange => ({ kind: 'dropTable', className });
  const version: SchemaChange = { kind: 'setTemplateVersion', version: 7 };
  const changes = [
    create('a'),
    create('A'),
    add('A', 'x'),
    version,
    remove('a'),
    create('aa'),
    create('a'),
    add('a', 'x'),
    remove('A'),
  ];
  const together = applyChanges(emptySchema, changes);
  assert.deepEqual(together, changes.reduce(applyChange, emptySchema));
  assert.deepEqual([tableOf(together, 'a').sqlName, together.version, together.templateVersion], ['t_a', 9, 7]);
  assert.equal(applyChanges(together, [create('Aa'), create('AA')]).tables.get('AA')?.sqlName, 't_AA~3');
  assert.throws(() => applyChanges(together, [remove('a'), add('a', 'y')]), /table a is missing/);
  assert.throws(() => applyChanges(together, [create('B'), create('B')]), /table B exists/);
});
