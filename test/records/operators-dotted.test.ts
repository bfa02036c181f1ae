import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, date, type Json, mismatch, pointer, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';

const link = pointer('Targets', 'abcdefghij');

/** Object before (undefined: absent), body, object after, whether the answer must carry the object. */
const effects: [string, Json, Json, Json, boolean][] = [
  ['sets one key', { a: 1, b: 2 }, { 'O.a': 5 }, { a: 5, b: 2 }, false],
  ['sets a new key', { a: 1 }, { 'O.b': 'x' }, { a: 1, b: 'x' }, false],
  ['sets a deep key', { a: { b: { c: 1, d: 2 } } }, { 'O.a.b.c': 9 }, { a: { b: { c: 9, d: 2 } } }, false],
  ['makes the way to a deep key', { a: 1 }, { 'O.x.y': 1 }, { a: 1, x: { y: 1 } }, false],
  ['makes the object', undefined, { 'O.a': 1 }, { a: 1 }, false],
  ['sets several keys', { a: 1 }, { 'O.b': 2, 'O.c': 3 }, { a: 1, b: 2, c: 3 }, false],
  ['sets an object', { a: 1 }, { 'O.a': { x: [1] } }, { a: { x: [1] } }, false],
  [
    'sets a Pointer and a Date',
    {},
    { 'O.p': link, 'O.d': date('2024-01-01T00:00:00.000Z') },
    { p: link, d: date('2024-01-01T00:00:00.000Z') },
    false,
  ],
  ['sets a key of any script', { a: 1 }, { 'O.שם': 1 }, { a: 1, שם: 1 }, false],
  ['Delete removes the key', { a: 1, b: 2 }, { 'O.a': { __op: 'Delete' } }, { b: 2 }, false],
  ['Delete of an absent key changes nothing', { a: 1 }, { 'O.x.y': { __op: 'Delete' } }, { a: 1 }, false],
  ['Delete of a deep key', { a: { b: 1, c: 2 } }, { 'O.a.b': { __op: 'Delete' } }, { a: { c: 2 } }, false],
  ['Increment', { n: 5, b: 2 }, { 'O.n': { __op: 'Increment', amount: 2 } }, { n: 7, b: 2 }, true],
  ['Increment of an absent key', { b: 2 }, { 'O.n': { __op: 'Increment', amount: 2 } }, { b: 2, n: 2 }, true],
  ['Increment of a deep key', { a: { n: 1.5 } }, { 'O.a.n': { __op: 'Increment', amount: -1 } }, { a: { n: 0.5 } }, true],
  ['Increment in an absent object', undefined, { 'O.n': { __op: 'Increment', amount: 3 } }, { n: 3 }, true],
  [
    'two Increments',
    { n: 1, m: 1 },
    { 'O.n': { __op: 'Increment', amount: 1 }, 'O.m': { __op: 'Increment', amount: 2 } },
    { n: 2, m: 3 },
    true,
  ],
  ['Add', { l: [1] }, { 'O.l': { __op: 'Add', objects: [1, 2] } }, { l: [1, 1, 2] }, true],
  ['Add to an absent key', {}, { 'O.l': { __op: 'Add', objects: [1] } }, { l: [1] }, true],
  ['AddUnique', { l: [1] }, { 'O.l': { __op: 'AddUnique', objects: [1, 2] } }, { l: [1, 2] }, true],
  ['Remove', { l: [1, 2, 1] }, { 'O.l': { __op: 'Remove', objects: [1] } }, { l: [2] }, true],
];

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);

    test('Operators/dotted path: as many places of one field as a body brings, when it is made and when it is changed', async () => {
      const table = await store.table({ O: 'Object', L: 'Array' });
      const all = (value: number) => Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`p${n}`, value]));
      const places = (value: number) => Object.fromEntries(Object.entries(all(value)).map(([name, n]) => [`O.${name}`, n]));
      const made = await store.create(table, { O: { first: 1 }, ...places(1), 'L.0': 'a', 'L.1': 'b' });
      const before = await store.read(table, made);
      assert.deepEqual([before.O, before.L], [{ first: 1, ...all(1) }, ['a', 'b']]);
      await store.update(table, made, { ...places(2), 'O.first': { __op: 'Delete' } });
      assert.deepEqual((await store.read(table, made)).O, all(2));
    });

    for (const [what, start, body, result, answered] of effects)
      test(`Operators/dotted path: ${what}${answered ? '; the whole top-level object is answered' : ''}`, async () => {
        const table = await store.table({ O: 'Object', Name: 'String' });
        const id = await store.create(table, start === undefined ? { Name: 'a' } : { Name: 'a', O: start });
        const { objectId, updatedAt, ...rest } = await store.update(table, id, body);
        if (answered || Object.keys(rest).length > 0) assert.deepEqual(rest, { O: result });
        const record = await store.read(table, id);
        assert.deepEqual(record.O, result);
        assert.equal(record.Name, 'a');
        assert.deepEqual(
          Object.keys(await store.fields(table)).filter((name) => name.includes('.')),
          [],
        );
      });

    test('Operators/dotted path: on an unknown field an Object column is added', async () => {
      const table = await store.table();
      const id = await store.create(table, {});
      await store.update(table, id, { 'Fresh.a': 1 });
      assert.equal((await store.fields(table)).Fresh.type, 'Object');
      assert.deepEqual((await store.read(table, id)).Fresh, { a: 1 });
    });

    test('Operators/dotted path: on create it builds the object, or is 105; never a column with a dot', async () => {
      const table = await store.table({ O: 'Object' });
      const answer = await store.post(table, { 'O.a': 1, 'O.n': { __op: 'Increment', amount: 2 } });
      if (answer.status === 201) assert.deepEqual((await store.read(table, answer.body.objectId)).O, { a: 1, n: 2 });
      else assertRefused(answer, { code: 105 });
      assert.equal((await store.fields(table))['O.a'], undefined);
    });

    const wrong: [string, Json, Json, string, string][] = [
      ['Increment of text', { k: 'x' }, { __op: 'Increment', amount: 1 }, 'Number', 'String'],
      ['Increment of an array', { k: [1] }, { __op: 'Increment', amount: 1 }, 'Number', 'Array'],
      ['Add to a number', { k: 1 }, { __op: 'Add', objects: [1] }, 'Array', 'Number'],
      ['AddUnique to an object', { k: { a: 1 } }, { __op: 'AddUnique', objects: [1] }, 'Array', 'Object'],
      ['Remove from text', { k: 'x' }, { __op: 'Remove', objects: ['x'] }, 'Array', 'String'],
    ];
    for (const [what, start, op, expected, got] of wrong)
      test(`Operators/dotted path: ${what} is 111, and nothing changes`, async () => {
        const table = await store.table({ O: 'Object' });
        const id = await store.create(table, { O: start });
        assertRefused(await store.put(table, id, { 'O.k': op }), mismatch(table, 'O.k', expected, got));
        assertRefused(await store.post(table, { O: start, 'O.k': op }), mismatch(table, 'O.k', expected, got));
        assert.deepEqual((await store.read(table, id)).O, start);
      });

    test('Errors/105: a dotted name is reported whole, before the record is looked for', async () => {
      const table = await store.table({ O: 'Object' });
      for (const name of ['O.', 'O..a', 'O.constructor', 'Fresh.a.__proto__'])
        for (const answer of [await store.post(table, { [name]: 1 }), await store.put(table, 'abcdefghij', { [name]: 1 })])
          assertRefused(answer, { code: 105, error: `Invalid field name: ${name}` });
    });

    for (const [type, value] of [
      ['String', 'a'],
      ['Number', 5],
      ['Boolean', true],
      ['Pointer', link],
    ] as const)
      test(`Operators/dotted path: into a ${type} field is refused, and the value stays`, async () => {
        const table = await store.table({ F: { type, targetClass: 'Targets' } });
        const id = await store.create(table, { F: value });
        for (const change of [1, { __op: 'Increment', amount: 1 }, { __op: 'Delete' }])
          assertRefused(await store.put(table, id, { 'F.k': change }), { code: [105, 111] });
        assert.deepEqual((await store.read(table, id)).F, value);
      });

    const malformed = [
      'O.',
      '.a',
      '.',
      '..',
      'O..a',
      'O.a.',
      'O.__proto__',
      'O.__proto__.x',
      'O.constructor.prototype',
      'O.a.prototype',
      'O.$set',
      '1O.a',
      'O x.a',
      'constructor.a',
      '_O.a',
    ];
    for (const name of malformed)
      test(`Operators/dotted path: ${name} is refused (105, or 121 for $), and nothing changes`, async () => {
        const table = await store.table({ O: 'Object' });
        const id = await store.create(table, { O: { a: 1 } });
        const before = await store.snapshot(table);
        for (const change of [1, { __op: 'Increment', amount: 1 }, { __op: 'Delete' }])
          assertRefused(await store.put(table, id, { [name]: change }), { code: [105, 121] });
        assert.equal(await store.snapshot(table), before);
      });

    for (const name of ['objectId', 'createdAt', 'createdBy', 'ACL'])
      test(`Operators/dotted path: into ${name} has no effect`, async () => {
        const table = await store.table({ A: 'String' });
        const id = await store.create(table, { A: 'a' });
        const { updatedAt, ...before } = await store.read(table, id);
        const answer = await store.put(table, id, { [`${name}.k`]: 1 });
        assert.ok(answer.status < 500, answer.text);
        const { updatedAt: moved, ...after } = await store.read(table, id);
        assert.deepEqual(after, before);
        assert.ok(moved >= updatedAt);
      });
  });
