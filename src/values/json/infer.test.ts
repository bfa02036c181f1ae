import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../kernel/json.ts';
import { inferType, typeOfValue } from './infer.ts';

const cases: [JsonValue, ReturnType<typeof inferType>, string][] = [
  [null, null, 'Null'],
  ['a', { type: 'String' }, 'String'],
  [0, { type: 'Number' }, 'Number'],
  [false, { type: 'Boolean' }, 'Boolean'],
  [[], { type: 'Array' }, 'Array'],
  [{}, { type: 'Object' }, 'Object'],
  [{ __type: 'Date' }, { type: 'Date' }, 'Date'],
  [{ __type: 'File' }, { type: 'File' }, 'File'],
  [{ __type: 'Pointer', className: 'A' }, { type: 'Pointer', targetClass: 'A' }, 'Pointer<A>'],
  [{ __type: 'Object', className: 'A' }, { type: 'Pointer', targetClass: 'A' }, 'Pointer<A>'],
  [{ __type: 'Relation', className: 'A' }, { type: 'Relation', targetClass: 'A' }, 'Relation<A>'],
];
for (const [value, type, text] of cases)
  test(`${JSON.stringify(value)} is a ${text}`, () => assert.deepEqual([inferType(value), typeOfValue(value)], [type, text]));

const refused: [JsonValue, number, string][] = [
  ...['Bytes', 'GeoPoint', 'Polygon', 'Banana', 'constructor'].map((name): [JsonValue, number, string] => [
    { __type: name },
    111,
    `This is not a valid ${name}`,
  ]),
  [{ __type: 5 }, 111, 'This is not a valid Object'],
  [{ __type: 'Pointer', objectId: 'a' }, 111, 'This is not a valid Pointer'],
  [{ __type: 'Relation', className: {} }, 111, 'This is not a valid Relation'],
  [{ __type: 'Pointer', className: 'T"; --' }, 103, 'Invalid class name: T"; --'],
];
for (const [value, code, message] of refused)
  test(`${JSON.stringify(value)} gives no type`, () => assert.throws(() => inferType(value), { code, message }));
