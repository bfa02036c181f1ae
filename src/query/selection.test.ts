import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize, type Grant, master, type RowGuard } from '../access/index.ts';
import { newTable } from '../schema/defaults.ts';
import type { Field } from '../schema/model.ts';
import { buildQuery } from './build.ts';
import { parseOrder } from './order.ts';
import { projectFields } from './selection.ts';
import { grant, narrowGrant, userScope } from './testing/fixture.ts';
import { parseWhere } from './where/index.ts';

const rows: RowGuard = { kind: 'userFields', fields: ['OwnerId'], userId: 'u1' };
/** `Hidden` is shown nowhere; `Total`, `AccountId`, `extra` and `products` in some records. */
const reveals = new Map(['Total', 'AccountId', 'extra', 'products'].map((name) => [name, rows]));
const partial: Grant = { ...narrowGrant, hiddenFields: new Set(['Hidden', ...reveals.keys()]), reveals };
const denied = (name: string) => ({ code: 119, message: `This user is not allowed to access ${name} on class Sales` });
const names = (projection: ReturnType<typeof projectFields>) => projection.fields.map(({ name }) => name);

test('who sees everything shares one list of fields, without conditions', () => {
  const whole = projectFields(grant, null, []);
  assert.equal(projectFields({ ...grant }, null, []), whole);
  assert.equal(whole.visibleIn, undefined);
  assert.deepEqual(
    names(projectFields(narrowGrant, null, [])),
    names(whole).filter((name) => name !== 'Hidden'),
  );
});

test('so does who sees all but what exists for nobody', () => {
  const key: Field = { name: '_phone_key', type: 'String', column: '_phone_key' };
  const accounts = newTable('Accounts', 't_Accounts');
  const table = { ...accounts, fields: new Map(accounts.fields).set(key.name, key) };
  const whole = projectFields(authorize(master, 'find', table), null, []);
  assert.ok(!whole.fields.includes(key));
  const open = { ...table, permissions: { find: { '*': true } } };
  const grants = ['a', 'b'].map((userId) => authorize({ kind: 'user', userId, roles: [] }, 'find', open));
  assert.notEqual(grants[0], grants[1]);
  const [one, other] = grants.map((each) => projectFields(each, null, []));
  assert.equal(one, other);
  assert.deepEqual(one, whole);
});

test('fields that some records show are read with their condition', () => {
  const whole = projectFields(partial, null, []);
  assert.deepEqual(names(whole), names(projectFields(narrowGrant, null, [])));
  assert.deepEqual(whole.visibleIn, reveals);
  assert.deepEqual(projectFields(partial, null, ['Total']).visibleIn?.has('Total'), false);
});

test('keys may name them, and places in them; nothing else may', () => {
  assert.deepEqual([...(projectFields(partial, ['Name', 'Total'], []).visibleIn ?? [])], [['Total', rows]]);
  assert.equal(projectFields(partial, ['Name'], []).visibleIn, undefined);
  const inside = projectFields(partial, ['extra.a'], []);
  assert.deepEqual([inside.visibleIn, inside.paths], [new Map([['extra', rows]]), new Map([['extra', [['a']]]])]);
  for (const name of reveals.keys()) {
    assert.throws(() => parseWhere({ [name]: { $exists: true } }, partial, userScope), denied(name));
    assert.throws(() => parseOrder([`-${name}`], partial, userScope, false), denied(name));
  }
  assert.throws(() => parseWhere({ 'extra.a': 1 }, partial, userScope), denied('extra.a'));
});

test('a field that is hidden everywhere is not named at all', () => {
  assert.throws(() => projectFields(partial, ['Hidden'], []), denied('Hidden'));
  assert.throws(() => projectFields(partial, ['Hidden'], [], true), denied('Hidden'));
  assert.throws(() => projectFields(partial, ['Hidden.a'], []), denied('Hidden.a'));
});

test('an include expands them only where they show', () => {
  const options = { include: ['AccountId'] };
  const { includes, visibleIn } = buildQuery(options, partial, userScope);
  assert.deepEqual([includes.map(({ field }) => field.name), visibleIn?.get('AccountId')], [['AccountId'], rows]);
  const hidden: Grant = { ...partial, reveals: new Map() };
  assert.throws(() => buildQuery(options, hidden, userScope), denied('AccountId'));
  assert.deepEqual(
    buildQuery({ include: ['*'] }, hidden, userScope).includes.map(({ field }) => field.name),
    ['createdBy', 'updatedBy', 'tags'],
  );
});

test('keys alone: what is shown besides objectId is named', () => {
  const shown = (...keys: string[]) => names(projectFields(grant, keys, [], true));
  assert.deepEqual(shown('Name'), ['objectId', 'Name']);
  assert.deepEqual(shown('ACL', 'createdAt'), ['objectId', 'createdAt', 'ACL']);
  assert.deepEqual(shown('nothing'), ['objectId']);
  assert.deepEqual(names(projectFields(grant, null, [], true)), names(projectFields(grant, null, [])));
});
