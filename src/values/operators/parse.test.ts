import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { flattenForCreate, isOperator, type Operator, operatorType, parseOperator } from './parse.ts';

const to = (className: string, objectId = 'a') => ({ __type: 'Pointer', className, objectId });
const add = (...objects: JsonValue[]) => ({ __op: 'AddRelation', objects });
const remove = (...objects: JsonValue[]) => ({ __op: 'RemoveRelation', objects });

/** Operator, its parsed form, the type it gives a new field, the value it stores in a new record. */
const cases: [JsonObject, Operator, ReturnType<typeof operatorType>, JsonValue | undefined][] = [
  [{ __op: 'Increment', amount: -2 }, { op: 'increment', amount: -2 }, { type: 'Number' }, -2],
  [{ __op: 'Add', objects: [1, 1] }, { op: 'add', objects: [1, 1] }, { type: 'Array' }, [1, 1]],
  [
    { __op: 'AddUnique', objects: [1, 1, { a: 1 }] },
    { op: 'addUnique', objects: [1, 1, { a: 1 }] },
    { type: 'Array' },
    [1, { a: 1 }],
  ],
  [{ __op: 'Remove', objects: [1] }, { op: 'remove', objects: [1] }, { type: 'Array' }, []],
  [{ __op: 'Delete' }, { op: 'delete' }, null, undefined],
  [{ __op: 'SetOnInsert', amount: 'x' }, { op: 'setOnInsert', value: 'x' }, { type: 'String' }, 'x'],
  [{ __op: 'SetOnInsert', amount: null }, { op: 'setOnInsert', value: null }, null, null],
  [add(), { op: 'relation', className: undefined, steps: [] }, null, undefined],
  [
    add({ ...to('A'), __type: 'Object', Name: 'x' }, to('A', 'b')),
    { op: 'relation', className: 'A', steps: [{ op: 'add', memberIds: ['a', 'b'] }] },
    { type: 'Relation', targetClass: 'A' },
    undefined,
  ],
  [
    { __op: 'Batch', ops: [remove(to('A')), add(), add(to('A', 'b'))] },
    {
      op: 'relation',
      className: 'A',
      steps: [
        { op: 'remove', memberIds: ['a'] },
        { op: 'add', memberIds: ['b'] },
      ],
    },
    { type: 'Relation', targetClass: 'A' },
    undefined,
  ],
];
for (const [value, operator, type, stored] of cases)
  test(`reads ${JSON.stringify(value)}`, () => {
    assert.ok(isOperator(value));
    const parsed = parseOperator(value);
    assert.deepEqual([parsed, operatorType(parsed), flattenForCreate(parsed)], [operator, type, stored]);
  });

const refused: [JsonObject, number][] = [
  [{ __op: 'Multiply', amount: 2 }, 108],
  [{ __op: 'constructor' }, 108],
  [{ __op: 5 }, 107],
  [{ __op: null }, 107],
  [{ __op: 'Increment' }, 107],
  [{ __op: 'Increment', amount: '1' }, 107],
  [{ __op: 'Add' }, 107],
  [{ __op: 'AddUnique', objects: {} }, 107],
  [{ __op: 'Remove', objects: 'x' }, 107],
  [{ __op: 'SetOnInsert' }, 107],
  [{ __op: 'Batch' }, 107],
  [{ __op: 'Batch', ops: [{ __op: 'Increment', amount: 1 }] }, 107],
  [{ __op: 'Batch', ops: [{ __op: 'Batch', ops: [] }] }, 107],
  [add(1), 107],
  [add({ __type: 'Date', iso: '2024-01-01' }), 107],
  [add(to('A'), to('B')), 107],
  [{ __op: 'Batch', ops: [add(to('A')), remove(to('B'))] }, 107],
  [add(to('A', '')), 111],
  [add(to('a b')), 103],
  [{ __op: 'Add', objects: [{ $inc: 1 }] }, 121],
  [{ __op: 'Add', objects: [JSON.parse('{"__proto__":1}')] }, 105],
  [{ __op: 'Add', objects: [{ __type: 'Date', iso: 'x' }] }, 111],
];
for (const [value, code] of refused)
  test(`refuses ${JSON.stringify(value)}`, () => assert.throws(() => parseOperator(value), { code }));

for (const value of [null, 1, 'x', [], [{ __op: 'Delete' }], {}, { op: 'Delete' }])
  test(`${JSON.stringify(value)} is no operator`, () => assert.equal(isOperator(value), false));
