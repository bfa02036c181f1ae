import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, date, mismatch, pointer, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';

const increment = (amount: unknown) => ({ __op: 'Increment', amount });
const setOnInsert = (amount: unknown) => ({ __op: 'SetOnInsert', amount });

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);

    const sums: [number | undefined, number, number][] = [
      [5, 3, 8],
      [5, -3, 2],
      [5, 0, 5],
      [undefined, 4, 4],
      [1.5, 0.25, 1.75],
      [0.1, 0.2, 0.30000000000000004],
      [-1, 1, 0],
      [9007199254740990, 1, 9007199254740991],
      [9007199254740992, 1, 9007199254740992],
      [1e300, 1, 1e300],
    ];
    for (const [start, amount, sum] of sums)
      test(`Operators/Increment: ${start ?? 'absent'} + ${amount} = ${sum}; the update response carries the new value`, async () => {
        const table = await store.table({ N: 'Number' });
        const id = await store.create(table, start === undefined ? {} : { N: start });
        const answer = await store.update(table, id, { N: increment(amount) });
        assert.deepEqual(Object.keys(answer).sort(), ['N', 'objectId', 'updatedAt']);
        assert.equal(answer.N, sum);
        assert.equal((await store.read(table, id)).N, sum);
      });

    test('Operators/Increment: on create the amount is the value', async () => {
      const table = await store.table({ N: 'Number' });
      const record = await store.read(table, await store.create(table, { N: increment(-2.5) }));
      assert.equal(record.N, -2.5);
    });

    test('Operators/Increment: after a clear it counts from nothing', async () => {
      const table = await store.table({ N: 'Number' });
      const id = await store.create(table, { N: 5 });
      await store.update(table, id, { N: null });
      assert.equal((await store.update(table, id, { N: increment(2) })).N, 2);
    });

    test('Operators: several in one update, beside plain fields; each new value is answered', async () => {
      const table = await store.table({ A: 'Number', B: 'Number', C: 'String', D: 'Array' });
      const id = await store.create(table, { A: 1, B: 1, C: 'a' });
      const body = { A: increment(1), B: increment(-1), C: 'b', D: { __op: 'Add', objects: ['x'] } };
      const { objectId, updatedAt, ...rest } = await store.update(table, id, body);
      assert.deepEqual(rest, { A: 2, B: 0, D: ['x'] });
      assert.equal(objectId, id);
      const record = await store.read(table, id);
      assert.deepEqual([record.A, record.B, record.C, record.D, record.updatedAt], [2, 0, 'b', ['x'], updatedAt]);
    });

    for (const [what, text] of Object.entries({
      text: '"5"',
      null: 'null',
      'a boolean': 'true',
      'an array': '[1]',
      'an object': '{"a":1}',
      'not finite': '1e999',
    }))
      test(`Operators/Increment: an amount that is ${what} is 107, and nothing changes`, async () => {
        const table = await store.table({ N: 'Number' });
        const id = await store.create(table, { N: 5 });
        const before = await store.snapshot(table);
        assertRefused(await store.put(table, id, `{"N":{"__op":"Increment","amount":${text}}}`), { code: 107 });
        assertRefused(await store.post(table, `{"N":{"__op":"Increment","amount":${text}}}`), { code: 107 });
        assert.equal(await store.snapshot(table), before);
      });

    test('Operators/Increment: without an amount it is 107', async () => {
      const table = await store.table({ N: 'Number' });
      const id = await store.create(table, { N: 5 });
      assertRefused(await store.put(table, id, { N: { __op: 'Increment' } }), { code: 107 });
    });

    test('Operators/Increment: a sum that is not finite is refused, and the value stays', async () => {
      const table = await store.table({ N: 'Number' });
      const id = await store.create(table, { N: 1e308 });
      const answer = await store.put(table, id, { N: increment(1e308) });
      assert.equal(answer.status, 400, answer.text);
      assert.equal((await store.read(table, id)).N, 1e308);
    });

    const others: [string, string, unknown][] = [
      ['String', 'String', 'a'],
      ['Boolean', 'Boolean', true],
      ['Date', 'Date', date('2024-01-01T00:00:00.000Z')],
      ['Pointer', 'Pointer<Targets>', pointer('Targets', 'abcdefghij')],
      ['Array', 'Array', [1]],
      ['Object', 'Object', { a: 1 }],
      ['HTML/XML', 'HTML/XML', '<b/>'],
    ];
    for (const [type, spelled, value] of others)
      test(`Operators/Increment: on a ${type} field it is 111, and the value stays`, async () => {
        const table = await store.table({ F: { type, targetClass: 'Targets' } });
        const id = await store.create(table, { F: value });
        assertRefused(await store.put(table, id, { F: increment(1) }), mismatch(table, 'F', spelled, 'Number'));
        assertRefused(await store.post(table, { F: increment(1) }), mismatch(table, 'F', spelled, 'Number'));
        assert.deepEqual(
          (await store.all(table)).map((row) => row.F),
          [value],
        );
      });

    test('Operators/SetOnInsert: on create the amount is the value, of any type', async () => {
      const table = await store.table({ N: 'Number', S: 'String', A: 'Array' });
      const id = await store.create(table, { N: setOnInsert(5), S: setOnInsert('a'), A: setOnInsert([1]) });
      const { N, S, A } = await store.read(table, id);
      assert.deepEqual([N, S, A], [5, 'a', [1]]);
    });

    test('Operators/SetOnInsert: on update a value that is there stays', async () => {
      const table = await store.table({ N: 'Number' });
      const id = await store.create(table, { N: 5 });
      const answer = await store.update(table, id, { N: setOnInsert(9) });
      assert.equal(answer.N ?? 5, 5);
      assert.equal((await store.read(table, id)).N, 5);
    });

    test('Operators/SetOnInsert: an amount of the wrong type is 111', async () => {
      const table = await store.table({ N: 'Number' });
      assertRefused(await store.post(table, { N: setOnInsert('a') }), mismatch(table, 'N', 'Number', 'String'));
    });

    test('Operators/Delete: clears the field; the answer does not carry it', async () => {
      const table = await store.table({ N: 'Number', S: 'String' });
      const id = await store.create(table, { N: 5, S: 'a' });
      const answer = await store.update(table, id, { N: { __op: 'Delete' } });
      assert.deepEqual(Object.keys(answer).sort(), ['objectId', 'updatedAt']);
      const record = await store.read(table, id);
      assert.equal(Object.hasOwn(record, 'N'), false);
      assert.equal(record.S, 'a');
    });

    test('Operators/Delete: on create the field is absent, and an unknown field adds no column', async () => {
      const table = await store.table({ N: 'Number' });
      const id = await store.create(table, { N: { __op: 'Delete' }, Fresh: { __op: 'Delete' } });
      await store.update(table, id, { Other: { __op: 'Delete' } });
      assert.equal(Object.hasOwn(await store.read(table, id), 'N'), false);
      const fields = await store.fields(table);
      assert.deepEqual([fields.Fresh, fields.Other], [undefined, undefined]);
    });

    for (const name of ['Frobnicate', 'increment', 'Set', '', 'constructor', 'toString', '__proto__', 'hasOwnProperty'])
      test(`Operators: unknown __op ${JSON.stringify(name)} is 108 on create and on update`, async () => {
        const table = await store.table({ N: 'Number' });
        const id = await store.create(table, { N: 5 });
        const before = await store.snapshot(table);
        const refusal = { code: 108, error: `The ${name} operator is not supported yet.` };
        for (const field of ['N', 'Fresh']) {
          assertRefused(await store.put(table, id, { [field]: { __op: name, amount: 1, objects: [1] } }), refusal);
          assertRefused(await store.post(table, { [field]: { __op: name, amount: 1, objects: [1] } }), refusal);
        }
        assert.equal(await store.snapshot(table), before);
      });

    for (const op of [5, null, true, ['Increment'], { __op: 'Increment' }])
      test(`Operators: an __op that is no string (${JSON.stringify(op)}) is refused`, async () => {
        const table = await store.table({ N: 'Number' });
        const id = await store.create(table, { N: 5 });
        const before = await store.snapshot(table);
        assertRefused(await store.put(table, id, { N: { __op: op, amount: 1 } }), { code: [107, 108, 111] });
        assertRefused(await store.post(table, { N: { __op: op, amount: 1 } }), { code: [107, 108, 111] });
        assert.equal(await store.snapshot(table), before);
      });
  });
