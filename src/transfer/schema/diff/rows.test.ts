import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../../../kernel/json.ts';
import { inRowOrder, isFlag, normalBody, rowKinds } from '../model/rows.ts';
import type { NamedRow } from '../model/snapshot.ts';
import type { StoredRow } from '../state/rows.ts';
import { diffLabels, diffRows } from './rows.ts';

const kind = rowKinds.triggers;
const row = (name: string, body: JsonObject = {}, table = 'T'): NamedRow => ({ table, name, body: normalBody(kind, body) });
let ids = 0;
const stored = (name: string, body: JsonObject = {}, table = 'T'): StoredRow => ({
  ...row(name, body, table),
  objectId: `id${++ids}`,
  version: 0,
  stored: body,
});
const briefly = (found: StoredRow[], wanted: NamedRow[], isComplete = true) =>
  diffRows(kind, inRowOrder(found), inRowOrder(wanted), isComplete).map((delta) => {
    if (delta.op === 'change') return `${delta.found.objectId} ${delta.changed.join()}`;
    return delta.op === 'add' ? `+${delta.wanted.name}` : `-${delta.found.objectId}`;
  });

describe('diffRows', () => {
  test('matches by table and name', () => {
    const [a, b] = [stored('a', { events: ['create'] }), stored('b')];
    assert.deepEqual(briefly([a, b], [row('a', { events: ['create'] }), row('c'), row('b', {}, 'U')]), [
      `-${b.objectId}`,
      '+c',
      '+b',
    ]);
  });
  test('names the fields that differ; null, absent and defaults are one', () => {
    const a = stored('a', { events: ['create'], criteria: null, Active: null, actions: [{ _id: 'x', type: 'e-mail' }] });
    assert.deepEqual(
      briefly([a], [row('a', { events: ['create'], Active: true, actions: [{ Active: true, type: 'e-mail' }] })]),
      [],
    );
    assert.deepEqual(briefly([a], [row('a', { events: ['update'], actions: [] })]), [`${a.objectId} events,actions`]);
  });
  test('of several of one name equal ones go together first, whatever their order', () => {
    const found = [1, 2, 3].map((n) => stored('a', { criteria: { n } }));
    const wanted = [3, 9, 1].map((n) => row('a', { criteria: { n } }));
    assert.deepEqual(briefly(found, wanted), [`${found[1]?.objectId} criteria`]);
    assert.deepEqual(briefly(found, wanted.slice(0, 2)), [`${found[0]?.objectId} criteria`, `-${found[1]?.objectId}`]);
  });
  test('nothing goes if the snapshot is not complete', () => {
    assert.deepEqual(briefly([stored('a'), stored('a', { Active: false })], [row('b')], false), ['+b']);
  });
});

test('the order of keys is no difference, that of lists is one', () => {
  const a = stored('a', { criteria: { x: 1, y: { a: 1, b: 2 } } });
  assert.deepEqual(briefly([a], [row('a', { criteria: { y: { b: 2, a: 1 }, x: 1 } })]), []);
  assert.deepEqual(
    briefly([stored('b', { events: ['create', 'update'] })], [row('b', { events: ['update', 'create'] })]).length,
    1,
  );
});

test('an ACL keeps what means the same elsewhere; what was for users alone is for keys', () => {
  const aclOf = (ACL: JsonObject) => normalBody(kind, { ACL }).ACL;
  assert.deepEqual(aclOf({ u1: { read: true }, 'role:Sales': { read: true } }), { 'role:Sales': { read: true } });
  assert.deepEqual(aclOf({ u1: { read: true, write: true } }), { '*': {} });
  assert.equal(aclOf({}), undefined);
});

test('labels: set, changed, removed', () => {
  const label = (text: string) => ({ label: text, objectId: text, version: 0, others: [] });
  const found = new Map([
    [
      'T',
      new Map([
        ['a', label('A')],
        ['b', label('B')],
      ]),
    ],
    ['U', new Map([['x', label('X')]])],
  ]);
  const wanted = new Map([
    [
      'T',
      new Map([
        ['a', 'A'],
        ['b', 'BB'],
        ['', 'table'],
      ]),
    ],
  ]);
  const names = (isComplete: boolean) =>
    diffLabels(found, wanted, isComplete).map(({ table, set, removed }) => [
      table,
      set.map(({ field }) => field),
      removed.map(({ field }) => field),
    ]);
  assert.deepEqual(names(false), [['T', ['b', ''], []]]);
  assert.deepEqual(names(true), [
    ['T', ['b', ''], []],
    ['U', [], ['x']],
  ]);
});

test('flags say nothing but a Boolean of their name', () => {
  assert.ok(isFlag('X', { X: true }) && isFlag('TimeZone', { TimeZone: 'UTC' }) && isFlag('Vat', { Vat: 18 }));
  assert.ok(isFlag('AcceptWebLeads', { AcceptWebLeads: false, DefaultValues: {} }));
  for (const value of [{ X: 'secret' }, { X: true, key: 'secret' }, {}, null, 'x', { Y: true }, { TimeZone: true }])
    assert.ok(!isFlag('X', value as JsonObject), JSON.stringify(value));
  assert.ok(!isFlag('Payment', { Payment: {} }) && !isFlag('TimeZone', { TimeZone: 'UTC', key: 'secret' }));
});
