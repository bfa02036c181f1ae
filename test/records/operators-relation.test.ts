import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, mismatch, pointer, unique, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';

const add = (objects: unknown) => ({ __op: 'AddRelation', objects });
const remove = (objects: unknown) => ({ __op: 'RemoveRelation', objects });
const batch = (...ops: unknown[]) => ({ __op: 'Batch', ops });

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);

    /** Creates a table with a Relation R, its target table with three records, and pointers to them. */
    const scene = async () => {
      const target = await store.table();
      const table = await store.table({ R: { type: 'Relation', targetClass: target }, Name: 'String' });
      const ids = (await Promise.all([1, 2, 3].map(() => store.create(target, {})))).sort();
      const [a, b, c] = ids.map((id) => pointer(target, id));
      assert.ok(a && b && c);
      const members = async (id: string) => await store.members(table, id, 'R', target);
      return { target, table, a, b, c, members };
    };

    test('Operators/AddRelation: on create and on update; a member counts once', async () => {
      const { table, a, b, c, members } = await scene();
      const id = await store.create(table, { R: add([a, a]) });
      assert.deepEqual(await members(id), [a.objectId]);
      await store.update(table, id, { R: add([a, b]) });
      await store.update(table, id, { R: add([c]) });
      assert.deepEqual(
        await members(id),
        [a, b, c].map((p) => p.objectId),
      );
    });

    test('Operators/RemoveRelation: removes members; one that is none is passed over', async () => {
      const { table, a, b, c, members } = await scene();
      const id = await store.create(table, { R: add([a, b]) });
      await store.update(table, id, { R: remove([b, c]) });
      assert.deepEqual(await members(id), [a.objectId]);
      await store.update(table, id, { R: remove([a]) });
      assert.deepEqual(await members(id), []);
    });

    test('Operators/RemoveRelation: on create it makes a record without members', async () => {
      const { table, a, members } = await scene();
      assert.deepEqual(await members(await store.create(table, { R: remove([a]) })), []);
    });

    test('Operators/Batch: its AddRelation and RemoveRelation run, on create and on update', async () => {
      const { table, a, b, c, members } = await scene();
      const id = await store.create(table, { R: batch(add([a, b])) });
      await store.update(table, id, { R: batch(add([c]), remove([a])) });
      assert.deepEqual(
        await members(id),
        [b, c].map((p) => p.objectId),
      );
    });

    test('Operators: relations of two records are apart, and the value reads {__type: Relation, className}', async () => {
      const { target, table, a, b, members } = await scene();
      const one = await store.create(table, { R: add([a]) });
      const two = await store.create(table, { R: add([a, b]) });
      await store.update(table, two, { R: remove([a]) });
      assert.deepEqual([await members(one), await members(two)], [[a.objectId], [b.objectId]]);
      assert.deepEqual((await store.read(table, one)).R, { __type: 'Relation', className: target });
    });

    test('Operators: AddRelation on an unknown field adds a Relation column to the table of its first object', async () => {
      const { target, table, a } = await scene();
      const id = await store.create(table, { Fresh: add([a]) });
      const { type, targetClass } = (await store.fields(table)).Fresh;
      assert.deepEqual([type, targetClass], ['Relation', target]);
      assert.deepEqual(await store.members(table, id, 'Fresh', target), [a.objectId]);
    });

    test('Operators/AddRelation: no objects is a write without effect, or 107', async () => {
      const { table, a, members } = await scene();
      const id = await store.create(table, { R: add([a]) });
      const answer = await store.put(table, id, { R: add([]) });
      if (answer.status !== 200) assertRefused(answer, { code: 107 });
      assert.deepEqual(await members(id), [a.objectId]);
    });

    test('Operators/AddRelation: updatedAt moves with it and the answer is {updatedAt, objectId}', async () => {
      const { table, a } = await scene();
      const id = await store.create(table, {});
      const answer = await store.update(table, id, { R: add([a]) });
      assert.deepEqual(Object.keys(answer).sort(), ['objectId', 'updatedAt']);
      assert.equal((await store.read(table, id)).updatedAt, answer.updatedAt);
    });

    for (const [name, op] of [
      ['AddRelation', add],
      ['RemoveRelation', remove],
    ] as const) {
      test(`Operators/${name}: objects of another table are 111`, async () => {
        const { table, target, a, members } = await scene();
        const id = await store.create(table, { R: add([a]) });
        const refusal = mismatch(table, 'R', `Relation<${target}>`, 'Relation<Others>');
        assertRefused(await store.put(table, id, { R: op([pointer('Others', 'abcdefghij')]) }), refusal);
        assertRefused(await store.put(table, id, { R: op([a, pointer('Others', 'abcdefghij')]) }), { code: [107, 111] });
        assert.deepEqual(await members(id), [a.objectId]);
      });

      for (const objects of [undefined, null, 'abcdefghij', 5, { a: 1 }])
        test(`Operators/${name}: objects that are no array (${JSON.stringify(objects)}) are 107`, async () => {
          const { table } = await scene();
          const id = await store.create(table, {});
          assertRefused(await store.put(table, id, { R: op(objects) }), { code: 107 });
          assertRefused(await store.post(table, { R: op(objects) }), { code: 107 });
        });

      for (const element of ['abcdefghij', 5, null, {}, { __type: 'Pointer', className: 'Targets' }])
        test(`Operators/${name}: an element that is no Pointer (${JSON.stringify(element)}) is refused`, async () => {
          const { table, a, members } = await scene();
          const id = await store.create(table, { R: add([a]) });
          assertRefused(await store.put(table, id, { R: op([element]) }), { code: [106, 107, 111] });
          assert.deepEqual(await members(id), [a.objectId]);
        });

      for (const [type, value] of [
        ['String', 'a'],
        ['Number', 5],
        ['Array', [1]],
        ['Object', { a: 1 }],
      ] as const)
        test(`Operators/${name}: on a ${type} field it is 111, and the value stays`, async () => {
          const table = await store.table({ F: type });
          const id = await store.create(table, { F: value });
          const body = { F: op([pointer('Targets', 'abcdefghij')]) };
          assertRefused(await store.put(table, id, body), mismatch(table, 'F', type, 'Relation<Targets>'));
          assert.deepEqual((await store.read(table, id)).F, value);
        });
    }

    test('Operators/AddRelation, RemoveRelation, Batch: without members on a field of another type it is 111 too', async () => {
      const table = await store.table({ F: 'String' });
      const id = await store.create(table, { F: 'a' });
      for (const op of [add([]), remove([]), { __op: 'Batch', ops: [] }])
        assertRefused(await store.put(table, id, { F: op }), mismatch(table, 'F', 'String', 'Relation'));
      assert.equal((await store.read(table, id)).F, 'a');
    });

    for (const [what, clear] of [
      ['Delete', { __op: 'Delete' }],
      ['null', null],
    ] as const)
      test(`Operators/Delete: ${what} clears a Relation: its members leave it, other records keep theirs`, async () => {
        const { table, target, a, b, members } = await scene();
        const id = await store.create(table, { R: add([a, b]) });
        const other = await store.create(table, { R: add([a]) });
        assert.deepEqual(Object.keys(await store.update(table, id, { R: clear })).sort(), ['objectId', 'updatedAt']);
        assert.deepEqual([await members(id), await members(other)], [[], [a.objectId]]);
        assert.deepEqual((await store.read(table, id)).R, { __type: 'Relation', className: target });
        const fresh = await store.create(table, { R: clear });
        assert.deepEqual(await members(fresh), []);
      });

    for (const ops of [undefined, null, 'x', 5, {}, ['x'], [null]])
      test(`Operators/Batch: ops that are no array of operators (${JSON.stringify(ops)}) are refused`, async () => {
        const { table, a, members } = await scene();
        const id = await store.create(table, { R: add([a]) });
        assertRefused(await store.put(table, id, { R: { __op: 'Batch', ops } }), { code: [107, 108, 111] });
        assert.deepEqual(await members(id), [a.objectId]);
      });

    test('Records/Delete: a deleted record leaves its Relations, both ways', async () => {
      const { target, table, a, b, members } = await scene();
      const owner = unique('own');
      await store.create(table, { objectId: owner, R: add([a, b]) });
      assert.equal((await store.remove(target, a.objectId)).status, 200);
      await store.create(target, { objectId: a.objectId });
      assert.deepEqual(await members(owner), [b.objectId]);
      assert.equal((await store.remove(table, owner)).status, 200);
      await store.create(table, { objectId: owner });
      assert.deepEqual(await members(owner), []);
    });

    test('Records: a refused write leaves its Relations as they were', async () => {
      const { table, a, b, members } = await scene();
      const id = await store.create(table, { R: add([a]) });
      assertRefused(await store.put(table, id, { R: add([b]), Name: true }), { code: 111 });
      assertRefused(await store.put(table, 'abcdefghij', { R: add([b]) }), { code: 101 });
      assert.deepEqual(await members(id), [a.objectId]);
      assert.deepEqual(await members('abcdefghij'), []);
    });
  });
