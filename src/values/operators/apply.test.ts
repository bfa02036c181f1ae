import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../kernel/json.ts';
import { applyEdits, type JsonEdit } from './apply.ts';

type Change = JsonEdit extends infer E ? (E extends JsonEdit ? Omit<E, 'path'> : never) : never;
const at = (path: string, change: Change): JsonEdit => ({ path: path === '' ? [] : path.split('.'), ...change }) as JsonEdit;
const apply = (current: JsonValue, edits: readonly JsonEdit[], type?: 'Array' | 'Object') => {
  const text = applyEdits(current === null ? null : JSON.stringify(current), edits, type);
  return text === null ? null : JSON.parse(text);
};
const to = (objectId: string, more = {}) => ({ __type: 'Pointer', className: 'A', objectId, ...more });
const on = (iso: string) => ({ __type: 'Date', iso });

const cases: [string, JsonValue, JsonEdit[], JsonValue][] = [
  ['add to nothing', null, [at('', { op: 'add', objects: [1, 1] })], [1, 1]],
  ['add keeps order and duplicates', [2], [at('', { op: 'add', objects: [1, 2] })], [2, 1, 2]],
  ['addUnique drops duplicates among the new ones too', [1], [at('', { op: 'addUnique', objects: [2, 1, 2] })], [1, 2]],
  ['addUnique leaves old duplicates', [1, 1], [at('', { op: 'addUnique', objects: [1] })], [1, 1]],
  ['addUnique tells types apart', [1], [at('', { op: 'addUnique', objects: ['1', true, null, [1]] })], [1, '1', true, null, [1]]],
  [
    'addUnique: Pointers by class and id',
    [to('x')],
    [at('', { op: 'addUnique', objects: [to('x', { a: 1 }), to('y')] })],
    [to('x'), to('y')],
  ],
  [
    'addUnique: Dates by instant',
    [on('2024-01-01')],
    [at('', { op: 'addUnique', objects: [on('2024-01-01T00:00:00.000Z')] })],
    [on('2024-01-01')],
  ],
  [
    'addUnique: Objects whatever the order of keys',
    [{ a: 1, b: 2 }],
    [at('', { op: 'addUnique', objects: [{ b: 2, a: 1 }] })],
    [{ a: 1, b: 2 }],
  ],
  ['remove takes every equal one', [1, 2, 1], [at('', { op: 'remove', objects: [1] })], [2]],
  ['remove from nothing', null, [at('', { op: 'remove', objects: [1] })], []],
  ['set the whole', { a: 1 }, [at('', { op: 'set', value: { b: 1 } })], { b: 1 }],
  ['unset the whole', { a: 1 }, [at('', { op: 'unset' })], null],
  ['setOnInsert on nothing', null, [at('', { op: 'setOnInsert', value: [1] })], [1]],
  ['setOnInsert on something', [2], [at('', { op: 'setOnInsert', value: [1] })], [2]],
  ['set makes the way', null, [at('a.b.c', { op: 'set', value: 1 })], { a: { b: { c: 1 } } }],
  ['set through null', { a: null }, [at('a.b', { op: 'set', value: 1 })], { a: { b: 1 } }],
  ['increment', { a: { n: 1.5 } }, [at('a.n', { op: 'increment', amount: -2 })], { a: { n: -0.5 } }],
  [
    'increment of nothing and of null',
    { b: null },
    [at('a', { op: 'increment', amount: 2 }), at('b', { op: 'increment', amount: 3 })],
    { b: 3, a: 2 },
  ],
  ['add inside', {}, [at('a.list', { op: 'add', objects: [1] })], { a: { list: [1] } }],
  [
    'remove inside makes nothing',
    { a: {} },
    [at('a.b.c', { op: 'remove', objects: [1] }), at('x', { op: 'remove', objects: [1] })],
    { a: {} },
  ],
  ['unset inside', { a: { b: 1, c: 2 } }, [at('a.b', { op: 'unset' })], { a: { c: 2 } }],
  ['unset of what is not there', { a: 1 }, [at('x.y', { op: 'unset' }), at('a.b', { op: 'unset' })], { a: 1 }],
  ['unset inside nothing', null, [at('a', { op: 'unset' })], null],
  ['a position', { a: [1, { n: 1 }] }, [at('a.1.n', { op: 'increment', amount: 1 })], { a: [1, { n: 2 }] }],
  ['the position after the last', [1], [at('1', { op: 'set', value: 2 })], [1, 2]],
  [
    'unset at a position, and beyond the last',
    [1, 2],
    [at('0', { op: 'unset' }), at('2', { op: 'unset' }), at('x', { op: 'unset' })],
    [null, 2],
  ],
  ['a number as a key', { a: {} }, [at('a.0', { op: 'set', value: 1 })], { a: { 0: 1 } }],
  ['in order', {}, [at('a', { op: 'set', value: { n: 1 } }), at('a.n', { op: 'increment', amount: 1 })], { a: { n: 2 } }],
  [
    'names of the prototype',
    {},
    [at('toString', { op: 'increment', amount: 1 }), at('valueOf.x', { op: 'set', value: 1 })],
    { toString: 1, valueOf: { x: 1 } },
  ],
];
for (const [what, current, edits, result] of cases)
  test(what, () => {
    const before = structuredClone(edits);
    assert.deepEqual(apply(current, edits), result);
    assert.deepEqual(edits, before);
  });

test('an empty Array column begins as an Array', () =>
  assert.deepEqual(apply(null, [at('0', { op: 'set', value: 1 })], 'Array'), [1]));

const refused: [string, JsonValue, JsonEdit, number][] = [
  ['increment of text', { a: 'x' }, at('a', { op: 'increment', amount: 1 }), 111],
  ['increment out of range', { a: 1.7e308 }, at('a', { op: 'increment', amount: 1.7e308 }), 107],
  ['add to a number', { a: 1 }, at('a', { op: 'add', objects: [1] }), 111],
  ['remove from a number', { a: 1 }, at('a', { op: 'remove', objects: [1] }), 111],
  ['add to the Object itself', { a: 1 }, at('', { op: 'add', objects: [1] }), 111],
  ['set through a number', { a: 1 }, at('a.b', { op: 'set', value: 1 }), 111],
  ['set through text', { a: 'xyz' }, at('a.0', { op: 'set', value: 1 }), 111],
  ['a position too far', [1], at('2', { op: 'set', value: 1 }), 111],
  ['a position below 0', [1], at('-1', { op: 'set', value: 1 }), 111],
  ['a position with zeros', [1], at('00', { op: 'set', value: 1 }), 111],
  ['the length', [1], at('length', { op: 'set', value: 0 }), 111],
  ['__proto__', {}, at('__proto__.x', { op: 'set', value: 1 }), 105],
  ['constructor', {}, at('a.constructor', { op: 'set', value: 1 }), 105],
  ['an empty segment', {}, at('a..b', { op: 'set', value: 1 }), 105],
  ['a wrapper in pieces', {}, at('a.__type', { op: 'set', value: 'Pointer' }), 105],
  ['a segment with $', {}, at('a.$b', { op: 'set', value: 1 }), 121],
  ['a way without end', {}, at('a.'.repeat(20_000).slice(0, -1), { op: 'set', value: 1 }), 105],
];
for (const [what, current, edit, code] of refused)
  test(`refuses ${what}`, () => assert.throws(() => apply(current, [edit]), { code }));

test('add, addUnique and remove do what a model over text does', () => {
  const element = fc.oneof(
    fc.integer({ min: 0, max: 3 }),
    fc.constantFrom<JsonValue>('0', '1', null, true, [0], [], {}, to('x'), to('y'), { a: 1, b: [to('x')] }),
  );
  const elements = fc.array(element, { maxLength: 6 });
  const edit = fc.record({ op: fc.constantFrom('add' as const, 'addUnique' as const, 'remove' as const), objects: elements });
  fc.assert(
    fc.property(fc.option(elements), fc.array(edit, { maxLength: 4 }), (current, edits) => {
      let model = current?.map((value) => JSON.stringify(value)) ?? null;
      for (const { op, objects } of edits) {
        model ??= [];
        for (const text of objects.map((value) => JSON.stringify(value))) {
          if (op === 'remove') model = model.filter((other) => other !== text);
          else if (op === 'add' || !model.includes(text)) model.push(text);
        }
      }
      const expected = model?.map((text) => JSON.parse(text)) ?? null;
      assert.deepEqual(
        apply(
          current,
          edits.map((change) => at('', change)),
        ),
        expected,
      );
      const inside = { a: { list: current } };
      const path = edits.map((change) => at('a.list', change));
      // Inside a value Remove creates nothing, so only an existing list compares.
      if (current !== null) assert.deepEqual(apply(inside, path), { a: { list: expected } });
    }),
  );
});

test('what set puts at a place, a walk finds there', () => {
  const segments = fc.array(fc.constantFrom('a', 'b', '0', 'שלום'), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(segments, fc.jsonValue({ maxDepth: 2 }), (path, value) => {
      const sent = JSON.parse(JSON.stringify(value)) as JsonValue;
      const result = apply(null, [{ path, op: 'set', value: sent }]);
      assert.deepEqual(
        path.reduce<any>((object, segment) => object[segment], result),
        sent,
      );
      assert.deepEqual(
        apply(result, [
          { path, op: 'unset' },
          { path, op: 'set', value: sent },
        ]),
        result,
      );
    }),
  );
});
