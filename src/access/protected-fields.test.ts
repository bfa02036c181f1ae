import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize } from './authorize.ts';
import type { RowGuard } from './grant.ts';
import type { Principal } from './principal.ts';
import { callers, tableWith } from './testing/tables.ts';

/** `protectedFields`, and for each caller the hidden fields, in order. */
type Case = [sentence: string, lists: Record<string, string[]>, hidden: Record<string, string>];

const cases: readonly Case[] = [
  ['`*` is everyone but keys', { '*': ['pay'] }, { anonymous: 'pay', u1: 'pay', 'u1 in Sales': 'pay', master: '', apiKey: '' }],
  ['authenticated is any valid session', { authenticated: ['pay'] }, { anonymous: '', u1: 'pay', master: '' }],
  ['a role', { 'role:Sales': ['pay'] }, { anonymous: '', u1: '', 'u1 in Sales': 'pay' }],
  ['a user', { u1: ['pay'] }, { u1: 'pay', u2: '' }],
  [
    'of several lists only what each hides is hidden',
    { '*': ['Name', 'pay'], 'role:Sales': ['pay'], 'role:Staff': [], u2: ['owner', 'Name'] },
    { anonymous: 'Name pay', u1: 'Name pay', 'u1 in Sales': 'pay', 'u1 in Sales and Staff': '', u2: 'Name' },
  ],
  ['an empty list shows everything', { '*': ['pay'], u1: [] }, { u1: '', u2: 'pay', anonymous: 'pay' }],
  ['a list of users in records speaks of nobody else', { 'userField:owner': ['pay'] }, { anonymous: '', master: '', u1: 'pay' }],
  ['beside a list for all it only shows', { '*': ['pay'], 'userField:owner': ['Name', 'pay'] }, { u1: 'pay', anonymous: 'pay' }],
];

for (const [sentence, lists, hidden] of cases)
  test(`protectedFields: ${sentence}`, () => {
    const table = tableWith({ find: { '*': true }, protectedFields: lists });
    for (const [name, fields] of Object.entries(hidden)) {
      const grant = authorize(callers.get(name) as Principal, 'find', table);
      assert.deepEqual([...grant.hiddenFields].sort().join(' '), fields, name);
    }
  });

const held = (...fields: string[]): RowGuard => ({ kind: 'userFields', fields, userId: 'u1' });
const not = (guard: RowGuard): RowGuard => ({ kind: 'not', guard });
const any = (...guards: RowGuard[]): RowGuard => ({ kind: 'any', guards });
const own: RowGuard = { kind: 'record', objectId: 'u1' };

/** In which records u1 sees each field that is hidden from it. */
type Shown = [sentence: string, className: string, lists: Record<string, string[]>, shown: Record<string, RowGuard>];

const shown: readonly Shown[] = [
  ['nowhere', 'T', { '*': ['pay'] }, {}],
  [
    'in records that hold him, by a list that leaves it out',
    'T',
    { '*': ['pay'], 'userField:owner': [] },
    { pay: held('owner') },
  ],
  ['not by a list that hides it too', 'T', { '*': ['pay'], 'userField:owner': ['pay'] }, {}],
  [
    'each field by the lists that leave it out',
    'T',
    { '*': ['pay', 'Name'], 'userField:owner': ['pay'], 'userField:team': [] },
    { pay: held('team'), Name: held('owner', 'team') },
  ],
  [
    'where no list for all speaks: wherever no list of the record hides it',
    'T',
    { 'userField:owner': ['pay'] },
    { pay: not(held('owner')) },
  ],
  [
    'where no list for all speaks: or another one shows it',
    'T',
    { 'userField:owner': ['pay'], 'userField:team': ['Name'] },
    { pay: any(held('team'), not(held('owner'))), Name: any(held('owner'), not(held('team'))) },
  ],
  ['in his own record of a user', '_User', { '*': ['pay', 'Name'] }, { pay: own, Name: own }],
  ['there, or where he is held', '_User', { '*': ['pay'], 'userField:owner': [] }, { pay: any(own, held('owner')) }],
];

for (const [sentence, className, lists, expected] of shown)
  test(`protectedFields are shown: ${sentence}`, () => {
    const table = tableWith({ find: { '*': true, requiresAuthentication: true }, protectedFields: lists }, className);
    const grant = authorize(callers.get('u1') as Principal, 'find', table);
    assert.deepEqual(Object.fromEntries(grant.reveals), expected);
    for (const name of grant.reveals.keys()) assert.ok(grant.hiddenFields.has(name), name);
  });

test('secrets are hidden from everyone, in everybody’s own record too', () => {
  const secret = ['_email_key', '_last_failed_login', '_reset_expires_at', '_reset_token', '_username_key', 'password'];
  for (const lists of [{}, { '*': ['password', 'pay'], u1: [], 'userField:owner': [] }, { 'userField:owner': ['password'] }]) {
    const users = tableWith({ find: { requiresAuthentication: true }, protectedFields: lists }, '_User');
    for (const name of ['master', 'apiKey', 'u1', 'u2']) {
      const grant = authorize(callers.get(name) as Principal, 'find', users);
      assert.deepEqual([...grant.hiddenFields].filter((field) => secret.includes(field)).sort(), secret, name);
      for (const field of secret) assert.ok(!grant.reveals.has(field), field);
    }
  }
  const sessions = authorize(callers.get('master') as Principal, 'find', tableWith({}, '_Session'));
  assert.deepEqual([...sessions.hiddenFields], ['sessionToken']);
});
