import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, date, mismatch, pointer, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';

const link = pointer('Targets', 'abcdefghij');
const other = pointer('Targets', 'klmnopqrst');
const moment = date('2024-01-02T03:04:05.006Z');

type Op = 'Add' | 'AddUnique' | 'Remove';

/** Operator, array before (undefined: absent), objects, array after. */
const effects: [Op, unknown[] | undefined, unknown[], unknown[]][] = [
  ['Add', [1, 2], [2, 3], [1, 2, 2, 3]],
  ['Add', [], ['b', 'a', 'b'], ['b', 'a', 'b']],
  ['Add', undefined, [1], [1]],
  ['Add', [1], [], [1]],
  ['Add', [1], [[2, 3], { a: null }, null], [1, [2, 3], { a: null }, null]],
  ['AddUnique', [1, 2], [2, 3], [1, 2, 3]],
  ['AddUnique', [3, 1], [1, 3], [3, 1]],
  ['AddUnique', undefined, [1], [1]],
  ['AddUnique', [], [1, 1, 2, 1], [1, 2]],
  ['AddUnique', [1], ['1', true, 1], [1, '1', true]],
  ['AddUnique', [0], [false, '', null], [0, false, '', null]],
  ['AddUnique', [{ a: 1 }], [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: 2 }]],
  [
    'AddUnique',
    [[1, 2]],
    [
      [1, 2],
      [2, 1],
    ],
    [
      [1, 2],
      [2, 1],
    ],
  ],
  ['AddUnique', [link], [link, other], [link, other]],
  ['AddUnique', [link], [pointer('Others', link.objectId)], [link, pointer('Others', link.objectId)]],
  ['AddUnique', [moment], [moment], [moment]],
  ['AddUnique', ['a'], ['A', 'a ', 'a'], ['a', 'A', 'a ']],
  ['Remove', [1, 2, 1, 3], [1], [2, 3]],
  ['Remove', [1, 2], [3], [1, 2]],
  ['Remove', [1], [1], []],
  ['Remove', ['1', 1, true], [1], ['1', true]],
  ['Remove', [{ a: 1 }, { a: 2 }], [{ a: 1 }], [{ a: 2 }]],
  ['Remove', [link, other], [link], [other]],
  ['Remove', [[1], [2]], [[1]], [[2]]],
  ['Remove', [null, 0, false], [0], [null, false]],
];

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);

    for (const [op, start, objects, result] of effects)
      test(`Operators/${op}: ${JSON.stringify(start)} with ${JSON.stringify(objects)} is ${JSON.stringify(result)}, and is answered`, async () => {
        const table = await store.table({ A: 'Array' });
        const id = await store.create(table, start === undefined ? {} : { A: start });
        const answer = await store.update(table, id, { A: { __op: op, objects } });
        assert.deepEqual(Object.keys(answer).sort(), ['A', 'objectId', 'updatedAt']);
        assert.deepEqual(answer.A, result);
        assert.deepEqual((await store.read(table, id)).A, result);
      });

    test('Operators/Remove: from an absent array leaves nothing there', async () => {
      const table = await store.table({ A: 'Array' });
      const id = await store.create(table, {});
      await store.update(table, id, { A: { __op: 'Remove', objects: [1] } });
      assert.deepEqual((await store.read(table, id)).A ?? [], []);
    });

    test('Operators: on create Add and AddUnique give their objects, Remove an empty array', async () => {
      const table = await store.table({ A: 'Array', B: 'Array', C: 'Array' });
      const id = await store.create(table, {
        A: { __op: 'Add', objects: [1, 1] },
        B: { __op: 'AddUnique', objects: ['x', link] },
        C: { __op: 'Remove', objects: [1] },
      });
      const { A, B, C } = await store.read(table, id);
      assert.deepEqual([A, B, C ?? []], [[1, 1], ['x', link], []]);
    });

    test('Operators: objects inside arrays keep their wire types', async () => {
      const table = await store.table({ A: 'Array' });
      const id = await store.create(table, { A: [] });
      await store.update(table, id, { A: { __op: 'Add', objects: [link, moment, { deep: [link] }] } });
      assert.deepEqual((await store.read(table, id)).A, [link, moment, { deep: [link] }]);
    });

    for (const op of ['Add', 'AddUnique', 'Remove'] as const) {
      for (const objects of [undefined, null, 'x', 5, true, { a: 1 }])
        test(`Operators/${op}: objects that are no array (${JSON.stringify(objects)}) are 107, and nothing changes`, async () => {
          const table = await store.table({ A: 'Array' });
          const id = await store.create(table, { A: [1] });
          const before = await store.snapshot(table);
          assertRefused(await store.put(table, id, { A: { __op: op, objects } }), { code: 107 });
          assertRefused(await store.post(table, { A: { __op: op, objects } }), { code: 107 });
          assert.equal(await store.snapshot(table), before);
        });

      const others: [string, string, unknown][] = [
        ['String', 'String', 'a'],
        ['Number', 'Number', 5],
        ['Boolean', 'Boolean', false],
        ['Date', 'Date', moment],
        ['Pointer', 'Pointer<Targets>', link],
        ['Object', 'Object', { a: [1] }],
      ];
      for (const [type, spelled, value] of others)
        test(`Operators/${op}: on a ${type} field it is 111, and the value stays`, async () => {
          const table = await store.table({ F: { type, targetClass: 'Targets' } });
          const id = await store.create(table, { F: value });
          const body = { F: { __op: op, objects: [1] } };
          assertRefused(await store.put(table, id, body), mismatch(table, 'F', spelled, 'Array'));
          assertRefused(await store.post(table, body), mismatch(table, 'F', spelled, 'Array'));
          assert.deepEqual(
            (await store.all(table)).map((row) => row.F),
            [value],
          );
        });
    }
  });
