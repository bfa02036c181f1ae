import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClassLevelPermissions, type ClpAction, clpActions } from '../schema/model.ts';
import { actsAsMaster, authorize, mayCreateTable, requireKey } from './authorize.ts';
import type { RowGuard } from './grant.ts';
import { anonymous, invalid, master, type Principal } from './principal.ts';
import { apiKey, callers, tableWith, user } from './testing/tables.ts';

const caller = (name: string) => callers.get(name) as Principal;
const denied = (action: ClpAction, className = 'T') => `Permission denied for action ${action} on class ${className}`;

/** Callers who are given an action, by name; all others of `asked` are refused. */
type Case = [sentence: string, permissions: ClassLevelPermissions, action: ClpAction, given: string];

const asked = ['master', 'apiKey', 'anonymous', 'u1', 'u1 in Sales', 'u1 in Sales and Staff', 'u2'];
const cases: readonly Case[] = [
  ['an empty map means nobody but keys', { find: {} }, 'find', 'master, apiKey'],
  ['a missing map means nobody but keys', {}, 'get', 'master, apiKey'],
  ['`*` is everyone', { find: { '*': true } }, 'find', asked.join(', ')],
  [
    'requiresAuthentication is any valid session',
    { find: { requiresAuthentication: true } },
    'find',
    'master, apiKey, u1, u1 in Sales, u1 in Sales and Staff, u2',
  ],
  ['a role is its members', { find: { 'role:Sales': true } }, 'find', 'master, apiKey, u1 in Sales, u1 in Sales and Staff'],
  ['one of several roles suffices', { update: { 'role:Staff': true } }, 'update', 'master, apiKey, u1 in Sales and Staff'],
  ['a role goes by its name with `role:`', { find: { Sales: true } }, 'find', 'master, apiKey'],
  ['a user is named by id', { delete: { u2: true } }, 'delete', 'master, apiKey, u2'],
  ['what is not true gives nothing', { find: { '*': false } }, 'find', 'master, apiKey'],
  [
    'what entities give is united',
    { find: { 'role:Staff': true, u2: true } },
    'find',
    'master, apiKey, u1 in Sales and Staff, u2',
  ],
  ['count follows find', { find: { u2: true } }, 'count', 'master, apiKey, u2'],
  ['count by itself', { find: { '*': true }, count: { u2: true } }, 'count', 'master, apiKey, u2'],
  ['count for nobody', { find: { '*': true }, count: {} }, 'count', 'master, apiKey'],
  [
    'pointerFields give every user the records that hold him',
    { get: { pointerFields: ['owner'] } },
    'get',
    'master, apiKey, u1, u1 in Sales, u1 in Sales and Staff, u2',
  ],
  ['pointerFields never give create', { create: { pointerFields: ['owner'] } }, 'create', 'master, apiKey'],
  ['writeUserFields never give create', { writeUserFields: ['owner'] }, 'create', 'master, apiKey'],
  ['readUserFields give no writes', { readUserFields: ['owner'] }, 'update', 'master, apiKey'],
  ['writeUserFields give no reads', { writeUserFields: ['owner'] }, 'find', 'master, apiKey'],
  ['empty lists of fields give nothing', { find: { pointerFields: [] }, readUserFields: [] }, 'find', 'master, apiKey'],
];

for (const [sentence, permissions, action, given] of cases)
  test(sentence, () => {
    const table = tableWith(permissions);
    for (const name of asked) {
      const ask = () => authorize(caller(name), action, table);
      if (given.split(', ').includes(name)) assert.doesNotThrow(ask, name);
      else if (name === 'anonymous' && action !== 'find' && action !== 'get' && action !== 'count')
        assert.throws(ask, { code: 119, message: 'This action is not allowed without a valid CAPTCHA' });
      else if (name === 'anonymous' && permissions[action]?.requiresAuthentication) assert.throws(ask, { code: 101 });
      else assert.throws(ask, { code: 119, message: denied(action === 'count' && !permissions.count ? 'find' : action) }, name);
    }
  });

test('what a new system opens by user fields it opens to nobody without a role', () => {
  const notifications = tableWith({ readUserFields: ['owner'], delete: { pointerFields: ['owner'] } }, '_Notification');
  for (const action of ['find', 'get', 'count', 'delete'] as const) {
    const denial = { code: 119, message: denied(action === 'count' ? 'find' : action, '_Notification') };
    assert.throws(() => authorize(caller('u1'), action, notifications), denial);
    assert.doesNotThrow(() => authorize(caller('u1 in Sales'), action, notifications));
  }
  assert.doesNotThrow(() => authorize(caller('u1'), 'find', tableWith({ find: { u1: true } }, '_Notification')));
});

test('a wrong credential is refused everything, however open the table', () => {
  const open = tableWith(Object.fromEntries(clpActions.map((action) => [action, { '*': true }])));
  for (const action of clpActions) assert.throws(() => authorize(invalid, action, open), { code: 119, message: denied(action) });
});

test('anonymous writes meet the CAPTCHA, even if the permissions are open to everyone', () => {
  const open = tableWith(Object.fromEntries(clpActions.map((action) => [action, { '*': true }])));
  for (const action of ['create', 'update', 'delete', 'addField'] as const)
    assert.throws(() => authorize(anonymous, action, open), {
      code: 119,
      message: 'This action is not allowed without a valid CAPTCHA',
    });
  for (const action of ['find', 'get', 'count'] as const) assert.doesNotThrow(() => authorize(anonymous, action, open));
});

test('requiresAuthentication tells the anonymous caller to sign in', () => {
  const table = tableWith({ find: { requiresAuthentication: true }, count: { 'role:Sales': true } });
  assert.throws(() => authorize(anonymous, 'find', table), { status: 404, code: 101, message: /user needs to be authenticated/ });
  assert.throws(() => authorize(anonymous, 'count', table), { status: 400, code: 119 });
});

const acl = (right: 'read' | 'write', ...identities: string[]): RowGuard => ({ kind: 'acl', right, identities });
const held = (...fields: string[]): RowGuard => ({ kind: 'userFields', fields, userId: 'u1' });
const all = (...guards: RowGuard[]): RowGuard => ({ kind: 'all', guards });

test('the records: ACL by right and identity, and those that hold the user where nothing else gives the action', () => {
  const open = tableWith({ find: { '*': true }, update: { requiresAuthentication: true }, delete: { '*': true } });
  const byField = tableWith({
    find: { pointerFields: ['owner', 'team'], 'role:Sales': true },
    update: { pointerFields: ['owner'] },
    readUserFields: ['friendOf'],
    writeUserFields: ['team'],
  });
  const u1 = user('u1');
  const cases: [Principal, ClpAction, typeof open, RowGuard | null][] = [
    [master, 'find', open, null],
    [apiKey, 'delete', byField, null],
    [anonymous, 'find', open, acl('read', '*')],
    [u1, 'find', open, acl('read', '*', 'u1')],
    [user('u1', 'Sales'), 'find', open, acl('read', '*', 'u1', 'role:Sales')],
    [u1, 'update', open, acl('write', '*', 'u1')],
    [u1, 'delete', open, acl('write', '*', 'u1')],
    [u1, 'find', byField, all(acl('read', '*', 'u1'), held('owner', 'team', 'friendOf'))],
    [u1, 'count', byField, all(acl('read', '*', 'u1'), held('owner', 'team', 'friendOf'))],
    [u1, 'get', byField, all(acl('read', '*', 'u1'), held('friendOf'))],
    [u1, 'update', byField, all(acl('write', '*', 'u1'), held('owner', 'team'))],
    [u1, 'delete', byField, all(acl('write', '*', 'u1'), held('team'))],
    [user('u1', 'Sales'), 'find', byField, acl('read', '*', 'u1', 'role:Sales')],
  ];
  for (const [principal, action, table, rows] of cases)
    assert.deepEqual(authorize(principal, action, table).rows, rows, `${JSON.stringify(principal)} ${action}`);
});

test('an id that reads as the name of a role is nobody in ACLs and permissions', () => {
  const impostor = user('role:Admin');
  const table = tableWith({ find: { '*': true }, get: { 'role:Admin': true } });
  assert.deepEqual(authorize(impostor, 'find', table).rows, acl('read', '*'));
  assert.throws(() => authorize(impostor, 'get', table), { code: 119 });
});

test('addField: entities give it everywhere, user fields for updates of the records that hold the user', () => {
  const open = { create: { '*': true }, update: { '*': true } };
  const none = tableWith(open);
  const named = tableWith({ ...open, addField: { u1: true } });
  for (const byFields of [{ addField: { pointerFields: ['owner'] } }, { writeUserFields: ['owner'] }]) {
    const table = tableWith({ ...open, ...byFields });
    const onUpdate = authorize(user('u1'), 'update', table);
    assert.deepEqual([onUpdate.mayAddField, onUpdate.growthRows], [true, held('owner')]);
    assert.equal(authorize(user('u1'), 'create', table).mayAddField, false);
  }
  for (const action of ['create', 'update'] as const) {
    assert.equal(authorize(user('u1'), action, none).mayAddField, false);
    assert.equal(authorize(master, action, none).mayAddField, true);
    const grant = authorize(user('u1'), action, named);
    assert.deepEqual([grant.mayAddField, grant.growthRows], [true, null]);
    assert.equal(authorize(user('u2'), action, named).mayAddField, false);
  }
});

test('own sessions, and no others, whatever the permissions of `_Session` say', () => {
  for (const permissions of [{}, { find: { '*': true }, get: { '*': true }, delete: { '*': true } }]) {
    const sessions = tableWith(permissions, '_Session');
    for (const action of ['find', 'get', 'count', 'update', 'delete'] as const)
      assert.deepEqual(authorize(user('u1'), action, sessions).rows, held('user'));
    assert.equal(authorize(master, 'find', sessions).rows, null);
  }
});

test('grants are remembered, and not beyond the permissions or the roles that they rest on', () => {
  const sales = user('u1', 'Sales');
  const open = tableWith({ find: { 'role:Sales': true } });
  assert.equal(authorize(sales, 'find', open), authorize(sales, 'find', open));
  assert.equal(authorize(sales, 'count', open), authorize(sales, 'find', open));
  assert.equal(authorize(master, 'find', open), authorize(apiKey, 'delete', open));
  assert.throws(() => authorize(sales, 'find', tableWith({})), { code: 119 });
  assert.throws(() => authorize(user('u1'), 'find', open), { code: 119 });
});

test('schemas, new tables, silencing flags and own ids need a key', () => {
  for (const [name, principal] of callers) {
    const key = name === 'master' || name === 'apiKey';
    assert.equal(mayCreateTable(principal), key, name);
    assert.equal(actsAsMaster(principal), key, name);
    if (key) assert.doesNotThrow(() => requireKey(principal));
    else assert.throws(() => requireKey(principal), { status: 403, message: 'unauthorized: master key is required' }, name);
  }
});
