import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../kernel/json.ts';
import type { Field, FieldType } from '../../schema/model.ts';
import { valueTypes } from '../index.ts';
import type { StoredValue } from './type.ts';

const field = (type: FieldType): Field => {
  const targeted = type === 'Pointer' || type === 'Relation';
  return { name: 'F', column: 'F', type, ...(targeted ? { targetClass: 'Targets' } : {}) };
};
const decode = (type: FieldType, value: JsonValue) => valueTypes.get(type)?.decode(value, field(type), 'T');
const pointer = (className: string, objectId: JsonValue = 'abcdefghij') => ({ __type: 'Pointer', className, objectId });
const json = (text: string): JsonValue => JSON.parse(text);

const accepted: [FieldType, JsonValue, StoredValue][] = [
  ['String', 'a', 'a'],
  ['String', 1e21, '1e+21'],
  ['HTML/XML', 5, '5'],
  ['Number', -1.5, -1.5],
  ['Boolean', false, false],
  ['Date', { __type: 'Date', iso: '1970-01-01T00:00:01.000Z' }, 1000],
  ['Pointer', pointer('Targets'), 'abcdefghij'],
  ['Pointer', { ...pointer('Targets'), __type: 'Object', Name: 'x', Tags: [{ 'a.b': 1 }] }, 'abcdefghij'],
  ['Relation', { __type: 'Relation', className: 'Targets' }, null],
  ['File', { __type: 'File', name: 'n', url: 'u', private: true, x: 1 }, '{"__type":"File","name":"n","public":true}'],
  ['PrivateFile', { __type: 'File', name: 'n', url: null }, '{"__type":"File","name":"n","private":true}'],
  ['Array', [1, [null], pointer('Others')], `[1,[null],${JSON.stringify(pointer('Others'))}]`],
  ['Array', [{ ...pointer('A'), __type: 'Object', Name: 'x' }], JSON.stringify([pointer('A')])],
  ['Object', { b: 1, a: { '': '$.' } }, '{"b":1,"a":{"":"$."}}'],
  ['ACL', {}, '{}'],
  ['ACL', { u: { read: true, write: false }, 'role:A': {} }, '{"u":{"read":true},"role:A":{}}'],
];
for (const [type, value, stored] of accepted)
  test(`${type} takes ${JSON.stringify(value)}`, () => assert.strictEqual(decode(type, value), stored));

const mismatch = (expected: string, got: string) => `schema mismatch for T.F; expected ${expected} but got ${got}`;
const refused: [FieldType, JsonValue, number, string | RegExp][] = [
  ['String', { a: 1 }, 111, mismatch('String', 'Object')],
  ['String', true, 111, mismatch('String', 'Boolean')],
  ['Number', '5', 111, mismatch('Number', 'String')],
  ['Boolean', 0, 111, mismatch('Boolean', 'Number')],
  ['Date', '2024-01-01', 111, mismatch('Date', 'String')],
  ['Date', { __type: 'Date', iso: 5 }, 111, 'This is not a valid Date'],
  ['Date', { __type: 'Date', iso: '2024-02-30' }, 111, 'This is not a valid Date'],
  ['Pointer', 'abcdefghij', 111, mismatch('Pointer<Targets>', 'String')],
  ['Pointer', pointer('Others'), 111, mismatch('Pointer<Targets>', 'Pointer<Others>')],
  ['Pointer', pointer('Targets', ''), 111, 'This is not a valid Pointer'],
  ['Pointer', pointer('Targets', { $ne: '' }), 111, 'This is not a valid Pointer'],
  ['Pointer', json('{"__type":"Pointer","className":"Targets","objectId":"a","x":[{"__proto__":1}]}'), 105, /__proto__/],
  ['Relation', { __type: 'Relation', className: 'B' }, 111, mismatch('Relation<Targets>', 'Relation<B>')],
  ['Relation', { __type: 'Relation' }, 111, 'This is not a valid Relation'],
  ['File', 'x', 111, mismatch('File', 'String')],
  ['PrivateFile', pointer('A'), 111, mismatch('PrivateFile', 'Pointer<A>')],
  ['File', { __type: 'File', name: '' }, 111, 'This is not a valid File'],
  ['File', { __type: 'File', name: 'n', url: 5 }, 111, 'This is not a valid File'],
  ['Array', {}, 111, mismatch('Array', 'Object')],
  ['Array', [{ $ne: 1 }], 121, /\$ne/],
  ['Array', [[json('{"constructor":1}')]], 105, 'Invalid field name: constructor'],
  ['Array', [{ __type: 'Date', iso: 'x' }], 111, 'This is not a valid Date'],
  ['Object', true, 111, mismatch('Object', 'Boolean')],
  ['Object', { __type: 'File', name: 'n' }, 111, mismatch('Object', 'File')],
  ['Object', { __type: 5 }, 111, mismatch('Object', 'Object')],
  ['Object', { a: { 'b.c': 1 } }, 121, /b\.c/],
  ['Object', json('{"a":[{"__proto__":1}]}'), 105, 'Invalid field name: __proto__'],
  ['Object', { a: { __type: 'Pointer', className: 'A' } }, 111, 'This is not a valid Pointer'],
  ['ACL', '*', 123, /^Invalid ACL/],
  ['ACL', { '*': 'read' }, 123, /^Invalid ACL/],
  ['ACL', { u: { read: 1 } }, 123, /^Invalid ACL/],
  ['ACL', { u: { delete: true } }, 123, /^Invalid ACL/],
  ['ACL', { '*unresolved': { read: true } }, 123, /^Invalid ACL/],
  ['ACL', json('{"__proto__":{"read":true}}'), 105, /__proto__/],
];
for (const [type, value, code, message] of refused)
  test(`${type} refuses ${JSON.stringify(value)}`, () => assert.throws(() => decode(type, value), { code, message }));

for (const number of [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]) {
  const places: [FieldType, JsonValue][] = [
    ...(['Number', 'String', 'HTML/XML'] as const).map((type): [FieldType, JsonValue] => [type, number]),
    ['Array', [1, [number]]],
    ['Object', { a: { b: [number] } }],
    ['Pointer', { ...pointer('Targets'), x: number }],
  ];
  for (const [type, value] of places)
    test(`${type} refuses ${number}, wherever it comes from`, () =>
      assert.throws(() => decode(type, value), { code: 107, message: 'Invalid JSON: a number is too large' }));
}

test('a value from elsewhere that is nested without end is refused, and does not overflow the stack', () => {
  let deep: JsonValue = 1;
  for (let level = 0; level < 50_000; level++) deep = [deep];
  assert.throws(() => decode('Array', deep), { code: 107 });
  assert.throws(() => decode('Pointer', { ...pointer('Targets'), deep }), { code: 107 });
});
