import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize, refuseOutright } from './authorize.ts';
import {
  type AgentPermission,
  administers,
  anonymous,
  invalid,
  master,
  maySilenceTools,
  obstacleTo,
  type Principal,
  type ToolRequirement,
} from './principal.ts';
import { mayKnowTable, requireSchemaChange, requireSchemaRead } from './schema-rights.ts';
import { apiKey, tableWith, user } from './testing/tables.ts';

/** A user who signed in for an agent. */
const agent = (roles: string[], permissions: AgentPermission[], advanced = false): Principal => ({
  kind: 'user',
  userId: 'u1',
  roles,
  agent: { permissions: new Set(permissions), advanced },
});

const all: AgentPermission[] = ['mcp:view', 'mcp:create', 'mcp:update', 'mcp:edit-page-and-schema'];
const administrator = agent(['Admin'], all, true);
const viewer = agent(['Sales'], ['mcp:view']);

const view: ToolRequirement = { needs: ['mcp:view'], isAdvanced: false };
const write: ToolRequirement = { needs: ['mcp:create', 'mcp:update'], isAdvanced: false };
const advanced: ToolRequirement = { needs: ['mcp:edit-page-and-schema'], isAdvanced: true };
const free: ToolRequirement = { needs: [], isAdvanced: false };

test('keys use every tool; users what they were given, advanced ones as administrators where the switch is on', () => {
  const cases: [string, Principal, ToolRequirement, unknown][] = [
    ['master', master, advanced, null],
    ['API key', apiKey, advanced, null],
    ['nobody', anonymous, view, 'credential'],
    ['wrong key', invalid, free, 'credential'],
    ['a session of the data endpoints', user('u1', 'Admin'), view, 'credential'],
    ['a user without permissions', agent(['Admin'], [], true), view, { lacks: 'mcp:view' }],
    ['a user without permissions, a tool that needs none', agent([], []), free, null],
    ['a viewer', viewer, view, null],
    ['a viewer who writes', viewer, write, { lacks: 'mcp:create' }],
    ['half of what a tool needs', agent(['Sales'], ['mcp:create']), write, { lacks: 'mcp:update' }],
    ['the permission without the role', agent(['Sales'], all, true), advanced, 'role'],
    ['the role without the permission', agent(['Admin'], ['mcp:view'], true), advanced, { lacks: 'mcp:edit-page-and-schema' }],
    ['an administrator, the switch off', agent(['Admin'], all), advanced, 'switch'],
    ['an administrator', administrator, advanced, null],
  ];
  for (const [name, principal, requirement, obstacle] of cases)
    assert.deepEqual(obstacleTo(principal, requirement), obstacle, name);
});

test('schemas are read by keys and viewers, changed by keys and administrators; a session does neither', () => {
  for (const one of [master, apiKey, viewer, administrator]) assert.doesNotThrow(() => requireSchemaRead(one));
  for (const one of [user('u1', 'Admin'), agent(['Admin'], []), anonymous, invalid])
    assert.throws(() => requireSchemaRead(one), { key: 'masterKeyRequired' });
  for (const one of [master, apiKey, administrator]) assert.doesNotThrow(() => requireSchemaChange(one));
  for (const one of [user('u1', 'Admin'), viewer, agent(['Admin'], all), anonymous, invalid])
    assert.throws(() => requireSchemaChange(one), { key: 'masterKeyRequired' });
});

test('a table is known to who may do something with it', () => {
  const sales = tableWith({ find: { 'role:Sales': true } });
  const nobodys = tableWith({});
  assert.equal(mayKnowTable(viewer, sales), true);
  assert.equal(mayKnowTable(agent(['Service'], all), sales), false);
  assert.equal(mayKnowTable(viewer, nobodys), false);
  for (const one of [master, apiKey, administrator]) {
    assert.equal(mayKnowTable(one, nobodys), true);
    assert.equal(mayKnowTable(one, { ...nobodys, className: '_StoredFile' }), false, 'hidden from everybody');
  }
});

test('administrators over agents may write users as the permissions say, and delete none', () => {
  for (const action of ['create', 'update', 'addField'] as const) {
    assert.doesNotThrow(() => refuseOutright(administrator, action, '_User', 'u2'));
    assert.throws(() => refuseOutright(agent(['Admin'], all), action, '_User', 'u2'));
    assert.throws(() => refuseOutright(user('u1', 'Admin'), action, '_User', 'u2'));
  }
  assert.throws(() => refuseOutright(administrator, 'delete', '_User', 'u2'), { code: 119 });
});

test('an API key that comes with an agent reads the request log; one of the data endpoints does not', () => {
  assert.doesNotThrow(() => refuseOutright({ kind: 'apiKey', name: 'k', tools: true }, 'find', '_RequestLog'));
  assert.throws(() => refuseOutright(apiKey, 'find', '_RequestLog'), { code: 119 });
  assert.throws(() => refuseOutright(administrator, 'find', '_RequestLog'), { code: 119 });
});

test('the flags of tools count under the master key alone', () => {
  assert.equal(maySilenceTools(master), true);
  for (const one of [apiKey, administrator, anonymous]) assert.equal(maySilenceTools(one), false);
  assert.equal(administers(administrator), true);
});

test('what advanced tools write is closed to agents of users who do not administer, whatever tool they write it with', () => {
  const open = { create: { 'role:Admin': true }, update: { 'role:Admin': true }, addField: { 'role:Admin': true } } as const;
  const closed = agent(['Admin'], all);
  for (const className of ['Config', '_Trigger', '_Role', '_Dictionary', '_Session', 'Sites', 'SitePages', 'SiteMenus'])
    for (const action of ['create', 'update', 'delete'] as const) {
      assert.throws(() => authorize(closed, action, tableWith(open, className)), { code: 119 }, `${action} ${className}`);
      if (action !== 'delete') assert.doesNotThrow(() => authorize(administrator, action, tableWith(open, className)), className);
      if (action !== 'delete')
        assert.doesNotThrow(() => authorize(user('u1', 'Admin'), action, tableWith(open, className)), className);
    }
  for (const className of ['Accounts', '_DynamicQueries', '_Notification'])
    assert.doesNotThrow(() => authorize(closed, 'create', tableWith(open, className)), className);
});

test('columns are added by agents of users who administer alone', () => {
  const table = tableWith({ create: { 'role:Admin': true }, addField: { 'role:Admin': true } });
  assert.equal(authorize(agent(['Admin'], all), 'create', table).mayAddField, false);
  assert.equal(authorize(administrator, 'create', table).mayAddField, true);
  assert.equal(authorize(user('u1', 'Admin'), 'create', table).mayAddField, true);
});
