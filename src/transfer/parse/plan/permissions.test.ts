import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../kernel/json.ts';
import type { NewField } from '../../../schema/change.ts';
import { mapPermissions } from './permissions.ts';

const fields: ReadonlyMap<string, NewField> = new Map(
  (
    [
      { name: 'owner', type: 'Pointer', targetClass: '_User' },
      { name: 'shop', type: 'Pointer', targetClass: 'Shop' },
      { name: 'people', type: 'Array' },
      { name: 'secret', type: 'String' },
    ] as const
  ).map((field) => [field.name, field]),
);
const mapped = (permissions: JsonObject | null | 'unknown', className = 'Post') =>
  mapPermissions({ className, fields: new Map(), permissions, indexes: new Map() }, fields);
const all = { '*': true };
const nobody = { find: {}, get: {}, count: {}, create: {}, update: {}, delete: {}, addField: {} };

const cases: [title: string, permissions: JsonObject | null | 'unknown', expected: JsonObject, closed: number][] = [
  ['none: everybody', null, { find: all, get: all, count: all, create: all, update: all, delete: all, addField: all }, 0],
  ['not known: nobody', 'unknown', nobody, 1],
  ['an operation that is not named: nobody', { find: all }, { ...nobody, find: all }, 0],
  ['only true counts', { get: { '*': false, 'role:A': true, u: 1 } }, { ...nobody, get: { 'role:A': true } }, 0],
  ['what no entity can be called', { get: { 'role:': true } }, nobody, 1],
  [
    'users in fields',
    { get: { pointerFields: ['owner', 'people'] } },
    { ...nobody, get: { pointerFields: ['owner', 'people'] } },
    0,
  ],
  ['users in fields that hold none', { get: { pointerFields: ['shop', 'gone'] } }, nobody, 2],
  ['lists of readers', { readUserFields: ['owner', 'secret'] }, { ...nobody, readUserFields: ['owner'] }, 1],
  [
    'empty lists of protected fields show',
    { protectedFields: { '*': ['secret', 'gone'], 'role:A': [] } },
    { ...nobody, protectedFields: { '*': ['secret'], 'role:A': [] } },
    0,
  ],
  [
    'an ACL of new objects that is for all',
    { create: all, ACL: { '*': { read: true, write: true } } },
    { ...nobody, create: all },
    0,
  ],
  ['another ACL of new objects', { create: all, ACL: { '*': { read: true } } }, nobody, 1],
];
for (const [title, permissions, expected, closed] of cases)
  test(`permissions: ${title}`, () => {
    const found = mapped(permissions);
    assert.deepEqual(found.permissions, expected);
    assert.equal(found.closed.length, closed, found.closed.join());
  });

test('permissions: addresses of users are hidden, as Parse Server hides them', () => {
  const user = new Map([...fields, ['email', { name: 'email', type: 'String' }] as const]);
  const { permissions } = mapPermissions({ className: '_User', fields: new Map(), permissions: null, indexes: new Map() }, user);
  assert.deepEqual(permissions.protectedFields, { '*': ['email'] });
});
