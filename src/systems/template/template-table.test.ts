import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../kernel/json.ts';
import { type AccessProfile, readTableFile } from './template-table.ts';

const profiles = new Map<string, AccessProfile>([
  ['lookup', { read: ['Admin', 'Sales'], write: ['Admin'], addField: [] }],
  ['owned', { read: ['Admin'], write: ['Admin'], addField: [], owner: 'User' }],
]);
const label = { type: 'String', dictionary: 'שם' };
const read = (content: JsonObject, className = 'T') => readTableFile(className, content, profiles);

test('labels are distinguished from the definition, access becomes permissions, the rest stays', () => {
  const timeline = { displayFields: { Name: true }, index: {} };
  const indexes = { byName: { Name: 1 } };
  const file = read({ access: 'lookup', fields: { Name: label }, timeline, indexes, rows: [{ Name: 'x' }] });
  const [reads, writes] = [{ 'role:Admin': true, 'role:Sales': true }, { 'role:Admin': true }];
  assert.deepEqual(file.definition, {
    fields: { Name: { type: 'String' } },
    timeline,
    indexes,
    classLevelPermissions: { find: reads, get: reads, create: writes, update: writes, delete: writes, addField: {} },
  });
  assert.deepEqual([...file.labels], [['Name', 'שם']]);
  assert.deepEqual(file.rows, [{ Name: 'x' }]);
});

test('an owner reads, changes and deletes, but neither creates nor adds fields', () => {
  const roles = { 'role:Admin': true };
  const own = { ...roles, pointerFields: ['User'] };
  assert.deepEqual(read({ access: 'owned' }).definition.classLevelPermissions, {
    ...{ find: roles, get: roles, create: roles, update: own, delete: own, addField: {} },
    readUserFields: ['User'],
  });
});

test('fields and rows may be left out', () => {
  const file = read({ access: 'lookup' });
  assert.deepEqual([file.definition.fields, file.labels.size, file.rows], [{}, 0, []]);
});

test('fields that schema reads do not show have no label; password is shown', () => {
  const fields = { sessionToken: { type: 'String' }, expiresAt: { type: 'Date', dictionary: 'בתוקף עד' } };
  assert.deepEqual([...read({ access: 'lookup', fields }, '_Session').labels.keys()], ['expiresAt']);
  assert.throws(
    () => read({ access: 'lookup', fields: { password: { type: 'String' } } }, '_User'),
    /password has no dictionary/,
  );
});

const faults: [string, JsonObject, RegExp][] = [
  ['an unknown key', { access: 'lookup', field: {} }, /^Error: template: T: field is not a key$/],
  ['an inherited key', JSON.parse('{"access":"lookup","__proto__":{}}'), /__proto__ is not a key/],
  ['no access', { fields: {} }, /there is no access undefined/],
  ['an unknown access', { access: 'constructor' }, /there is no access "constructor"/],
  ['fields that are a list', { access: 'lookup', fields: [] }, /fields is not an object/],
  ['a field that is a text', { access: 'lookup', fields: { Name: 'String' } }, /Name is not an object/],
  [
    'an unknown key of a field',
    { access: 'lookup', fields: { Name: { ...label, required: true } } },
    /T\.Name: required is not a key/,
  ],
  ['a field without a label', { access: 'lookup', fields: { Name: { type: 'String' } } }, /Name has no dictionary/],
  ['an empty label', { access: 'lookup', fields: { Name: { ...label, dictionary: '' } } }, /dictionary of Name is no text/],
  ['rows that are no list', { access: 'lookup', rows: {} }, /rows is not an array of objects/],
  ['a row that is a text', { access: 'lookup', rows: ['x'] }, /rows is not an array of objects/],
];
for (const [sentence, content, error] of faults)
  test(`a fault of ours: ${sentence}`, () => {
    assert.throws(() => read(content), error);
  });
