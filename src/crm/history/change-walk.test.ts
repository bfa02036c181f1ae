import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../kernel/json.ts';
import type { Row } from '../queries/records.ts';
import { ChangeWalk } from './change-walk.ts';

/** Returns the changes of rows given oldest first; entries come newest first. */
function changesOf(
  rows: readonly [event: string, data?: JsonObject][],
  isWanted = (_field: string) => true,
  isEnd = true,
): unknown[] {
  const walk = new ChangeWalk(isWanted);
  for (const [event, data] of rows.toReversed()) walk.add({ objectId: 'x', event, ...(data && { data }) } as Row);
  return walk.known(isEnd).map(({ row, changes }) => ({ [String(row.event)]: Object.fromEntries(changes) }));
}

test('the value before is in an older row', () => {
  assert.deepEqual(changesOf([['create', { A: 1, B: 'x' }], ['update', { A: 2 }], ['update', { A: 3, B: 'y' }], ['delete']]), [
    { delete: {} },
    { update: { A: { from: 2, to: 3 }, B: { from: 'x', to: 'y' } } },
    { update: { A: { from: 1, to: 2 } } },
    { create: { A: { to: 1 }, B: { to: 'x' } } },
  ]);
});

test('what stayed as it was is left out, whatever the order of keys', () => {
  const pointer = { __type: 'Pointer', className: 'T', objectId: 'i' };
  const turned = { objectId: 'i', className: 'T', __type: 'Pointer' };
  assert.deepEqual(
    changesOf([
      ['create', { A: 1, P: pointer }],
      ['update', { A: 1, P: turned }],
    ]),
    [{ create: { A: { to: 1 }, P: { to: pointer } } }],
  );
  assert.deepEqual(
    changesOf([
      ['create', {}],
      ['update', { A: null }],
    ]),
    [{ create: {} }],
  );
});

test('a field that a record was created without was empty', () => {
  assert.deepEqual(
    changesOf([
      ['create', {}],
      ['update', { A: 1 }],
    ])[0],
    { update: { A: { from: null, to: 1 } } },
  );
});

test('what the rows do not tell is left open', () => {
  assert.deepEqual(
    changesOf([
      ['update', { A: 1 }],
      ['update', { A: 2, B: 1 }],
    ]),
    [{ update: { A: { from: 1, to: 2 }, B: { to: 1 } } }, { update: { A: { to: 1 } } }],
  );
});

test('operators are shown as their steps, and hide what comes out of them', () => {
  const increment = { __op: 'Increment', amount: 2 };
  assert.deepEqual(
    changesOf([
      ['create', { A: 1 }],
      ['update', { A: increment }],
      ['update', { A: 9 }],
    ]).slice(0, 2),
    [{ update: { A: { to: 9 } } }, { update: { A: { from: 1, steps: new Map([['Increment', 2]]) } } }],
  );
  assert.deepEqual(
    changesOf([
      ['create', { A: 1 }],
      ['update', { A: { __op: 'Delete' } }],
    ])[0],
    {
      update: { A: { from: 1, to: null } },
    },
  );
  const ifNew = { __op: 'SetOnInsert', amount: 5 };
  assert.deepEqual(
    changesOf([
      ['create', { A: ifNew }],
      ['update', { A: ifNew }],
    ]),
    [{ create: { A: { to: 5 } } }],
  );
});

test('what an operator leaves in a new record is a value', () => {
  const op = (__op: string, more: object) => ({ __op, ...more });
  assert.deepEqual(
    changesOf([
      [
        'create',
        { N: op('Increment', { amount: 2 }), L: op('AddUnique', { objects: [1, 1] }), X: op('Increment', { amount: 'x' }) },
      ],
      ['update', { N: 3, X: 4 }],
    ]),
    [
      { update: { N: { from: 2, to: 3 }, X: { to: 4 } } },
      { create: { N: { to: 2 }, L: { to: [1] }, X: { steps: new Map([['Increment', 'x']]) } } },
    ],
  );
});

test('steps of a Batch are put together', () => {
  const step = (__op: string, id: string) => ({ __op, objects: [{ __type: 'Pointer', className: 'T', objectId: id }] });
  const ops = [step('AddRelation', 'a'), step('RemoveRelation', 'b'), step('AddRelation', 'c')];
  const [{ update }] = changesOf([
    ['create', {}],
    ['update', { R: { __op: 'Batch', ops }, S: { __op: 5 } }],
  ]) as [{ update: object }];
  const [a, b, c] = ops.map(({ objects }) => objects[0]);
  assert.deepEqual(update, {
    R: {
      steps: new Map([
        ['AddRelation', [a, c]],
        ['RemoveRelation', [b]],
      ]),
    },
    S: { from: null, steps: new Map([['operator', { __op: 5 }]]) },
  });
});

test('places inside an Object', () => {
  assert.deepEqual(
    changesOf([
      ['create', { O: { a: { b: 1 } } }],
      ['update', { 'O.a.b': 2 }],
    ])[0],
    {
      update: { 'O.a.b': { from: 1, to: 2 } },
    },
  );
  // The whole Object after a write to one of its members is unknown.
  assert.deepEqual(
    changesOf([
      ['create', { O: { a: 1 } }],
      ['update', { 'O.a': 2 }],
      ['update', { O: { a: 3 } }],
    ])[0],
    {
      update: { O: { to: { a: 3 } } },
    },
  );
  assert.deepEqual(
    changesOf([
      ['create', { O: {} }],
      ['update', { 'O.constructor': 2 }],
    ])[0],
    {
      update: { 'O.constructor': { from: null, to: 2 } },
    },
  );
});

test('fields that are not wanted do not count', () => {
  const rows: [string, JsonObject][] = [
    ['create', { A: 1, B: 1 }],
    ['update', { A: 2 }],
    ['update', { B: 2 }],
  ];
  assert.deepEqual(
    changesOf(rows, (field) => field === 'B'),
    [{ update: { B: { from: 1, to: 2 } } }, { create: { B: { to: 1 } } }],
  );
});

test('while there may be older rows, only what is certain is reported', () => {
  const rows: [string, JsonObject][] = [
    ['update', { A: 1, B: 1 }],
    ['update', { A: 2 }],
  ];
  assert.deepEqual(
    changesOf(rows, () => true, false),
    [{ update: { A: { from: 1, to: 2 } } }],
  );
});
