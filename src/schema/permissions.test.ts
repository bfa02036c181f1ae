import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '../errors/fail.ts';
import type { NewField } from './change.ts';
import { defaultFields } from './defaults.ts';
import { readPermissions } from './permissions.ts';

const fields = new Map<string, NewField>([
  ...defaultFields,
  ['owner', { name: 'owner', type: 'Pointer', targetClass: '_User' }],
  ['team', { name: 'team', type: 'Array' }],
  ['account', { name: 'account', type: 'Pointer', targetClass: 'Accounts' }],
]);

const nobody = { find: {}, get: {}, create: {}, update: {}, delete: {}, addField: {} };

test('actions that are not given are for nobody; `count` and the field lists appear where given', () => {
  assert.deepEqual(readPermissions({}, fields), nobody);
  const given = {
    find: { '*': true, requiresAuthentication: true, 'role:Sales': true, abcdefghij: true, pointerFields: ['owner', 'team'] },
    count: {},
    protectedFields: { '*': ['owner'], 'role:Sales': [] },
    readUserFields: ['owner', 'createdBy'],
    writeUserFields: ['team'],
  };
  assert.deepEqual(readPermissions(given, fields), { ...nobody, ...given });
});

for (const text of [
  '[]',
  'null',
  '{"peek":{}}',
  '{"constructor":{}}',
  '{"__proto__":{}}',
  '{"find":true}',
  '{"find":[]}',
  '{"find":{"*":false}}',
  '{"find":{"*":"yes"}}',
  '{"find":{"":true}}',
  '{"find":{"role:":true}}',
  '{"find":{"__proto__":true}}',
  '{"find":{"pointerFields":true}}',
  '{"find":{"pointerFields":["account"]}}',
  '{"protectedFields":["owner"]}',
  '{"protectedFields":{"*":"owner"}}',
  '{"protectedFields":{"*":["nowhere"]}}',
  '{"protectedFields":{"*":["objectId"]}}',
  '{"protectedFields":{"__proto__":[]}}',
  '{"readUserFields":"owner"}',
  '{"readUserFields":["account"]}',
  '{"writeUserFields":["nowhere"]}',
  '{"writeUserFields":[5]}',
])
  test(`107: ${text}`, () => {
    const isInvalid = (error: unknown) => error instanceof ServiceError && error.key === 'invalidClp';
    assert.throws(() => readPermissions(JSON.parse(text), fields), isInvalid);
  });
