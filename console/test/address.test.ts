import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress, pathsOf } from '../src/model/address.ts';

test('an address is read as the page that it is', () => {
  const cases: [string, object][] = [
    ['/console', { kind: 'start' }],
    ['/console/', { kind: 'start' }],
    ['/console/sign-in', { kind: 'sign-in' }],
    ['/console/crm/', { kind: 'home', appId: 'crm' }],
    ['/console/crm/Accounts', { kind: 'grid', appId: 'crm', table: 'Accounts' }],
    ['/console/crm/Accounts/', { kind: 'grid', appId: 'crm', table: 'Accounts' }],
    ['/console/crm/Accounts/new', { kind: 'new', appId: 'crm', table: 'Accounts' }],
    ['/console/crm/Accounts/a1b2c3d4e5', { kind: 'record', appId: 'crm', table: 'Accounts', objectId: 'a1b2c3d4e5' }],
    ['/console/crm/-/me', { kind: 'page', appId: 'crm', page: 'me' }],
    ['/console/crm/-', { kind: 'unknown', appId: 'crm' }],
    ['/console/crm/a/b/c', { kind: 'unknown', appId: 'crm' }],
    ['/console/crm/%E0%A4%A', { kind: 'unknown', appId: 'crm' }],
    ['/elsewhere', { kind: 'unknown', appId: null }],
    ['/consoles/crm', { kind: 'unknown', appId: null }],
  ];
  for (const [path, address] of cases) assert.deepEqual(parseAddress('/console', path), address, path);
});

test('addresses that are made are read as what they were made of, below a path too', () => {
  const paths = pathsOf('/crm/console', 'my app');
  assert.deepEqual(parseAddress('/crm/console', paths.home), { kind: 'home', appId: 'my app' });
  assert.deepEqual(parseAddress('/crm/console', paths.record('טבלה', 'a/b?c#d')), {
    kind: 'record',
    appId: 'my app',
    table: 'טבלה',
    objectId: 'a/b?c#d',
  });
  const where = new URL(paths.grid('Tasks', { AccountId: 'x&y' }), 'http://localhost').searchParams.get('where');
  assert.equal(where, '{"AccountId":"x&y"}');
});
