import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, unique, useStore } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';

const badFields = [
  '',
  'a b',
  ' a',
  'a ',
  'a-b',
  'a$',
  '$a',
  'a"b',
  "a'b",
  'a;b',
  'a/b',
  'a:b',
  'a,b',
  'a[0]',
  '1a',
  '5',
  'שם',
  'naïve',
  'a🙂',
  'a\nb',
];
const reserved = ['constructor', 'prototype', '__proto__', 'length', 'className'];
const underscored = ['_a', '_', '__v', '_id', '_Name', '_rperm', '_hashed_password'];
const badTables = ['1a', '5', 'a b', 'a-b', 'a.b', 'a$', 'a"b', "a'b", 'a;b', 'שם', 'a🙂', '*', 'a/b', 'a%b', '-a', ' '];

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);

    for (const name of [...badFields, ...reserved, ...underscored])
      test(`Errors/105: Invalid field name: ${JSON.stringify(name)}, on create and on update, with any kind of value`, async () => {
        const table = await store.table({ Name: 'String' });
        const id = await store.create(table, { Name: 'a' });
        const before = await store.snapshot(table);
        const refusal = { code: 105, error: `Invalid field name: ${name}` };
        for (const value of ['"x"', '5', '{"a":1}', '{"__op":"Increment","amount":1}']) {
          const body = `{"Name":"changed",${JSON.stringify(name)}:${value}}`;
          assertRefused(await store.post(table, body), refusal);
          assertRefused(await store.put(table, id, body), refusal);
        }
        assert.equal(await store.snapshot(table), before);
      });

    test('Errors/105: a field name that exists is no licence for one that does not differ by more than a space', async () => {
      const table = await store.table({ Name: 'String' });
      assertRefused(await store.post(table, { 'Name ': 'x' }), { code: 105, error: 'Invalid field name: Name ' });
    });

    for (const name of ['A', 'z', 'a1', 'a_b', 'A_B_9', 'aB', 'a__b', 'a_'])
      test(`Errors/105: letters, digits, underscore are fine (${name})`, async () => {
        const table = await store.table();
        const id = await store.create(table, { [name]: 'x' });
        assert.equal((await store.read(table, id))[name], 'x');
      });

    for (const name of badTables)
      test(`Records: a table name that breaks the naming rule is 103 (${JSON.stringify(name)})`, async () => {
        assertRefused(await store.post(name, { Name: 'a' }), { code: 103, error: `Invalid class name: ${name}` });
        for (const answer of [
          await store.get(name, 'abcdefghij'),
          await store.put(name, 'abcdefghij', { a: 1 }),
          await store.remove(name, 'abcdefghij'),
        ])
          assert.ok(answer.status >= 400 && answer.status < 500, answer.text);
      });

    for (const name of ['__proto__', 'constructor', 'prototype'])
      test(`Records: ${name} as a table name is a table like any other, or 103`, async () => {
        const answer = await store.post(name, { Name: 'a' });
        if (answer.status === 201) assert.equal((await store.read(name, answer.body.objectId)).Name, 'a');
        else assertRefused(answer, { code: 103 });
        assert.ok((await store.get(name, 'abcdefghij')).status < 500);
      });

    for (const key of ['__proto__', 'constructor', 'prototype'])
      for (const [where, text] of [
        ['an Object', `{"${key}":1}`],
        ['an Object of Objects', `{"a":{"b":{"${key}":{"x":1}}}}`],
        ['an Array of Objects', `[{"a":1},{"${key}":1}]`],
        ['an operator', `{"__op":"Add","objects":[{"${key}":1}]}`],
        ['SetOnInsert', `{"__op":"SetOnInsert","amount":{"${key}":1}}`],
      ] as const)
        test(`Errors/105: ${key} is refused as a key inside ${where}`, async () => {
          const table = await store.table({ Name: 'String' });
          const id = await store.create(table, { Name: 'a' });
          const before = await store.snapshot(table);
          const refusal = { code: 105, error: `Invalid field name: ${key}` };
          assertRefused(await store.post(table, `{"F":${text}}`), refusal);
          assertRefused(await store.put(table, id, `{"F":${text}}`), refusal);
          assert.equal(await store.snapshot(table), before);
        });

    for (const key of ['$set', '$', 'a$b', 'a.b', '.', 'a.'])
      for (const wrap of [(value: object) => value, (value: object) => ({ a: [{ b: value }] }), (value: object) => [value]])
        test(`Errors/121: keys inside a value that hold $ or . (${JSON.stringify(wrap({ [key]: 1 }))})`, async () => {
          const table = await store.table({ Name: 'String' });
          const id = await store.create(table, { Name: 'a' });
          const before = await store.snapshot(table);
          assertRefused(await store.post(table, { F: wrap({ [key]: 1 }) }), { code: 121 });
          assertRefused(await store.put(table, id, { F: wrap({ [key]: 1 }) }), { code: 121 });
          assertRefused(await store.put(table, id, { F: { __op: 'AddUnique', objects: [{ [key]: 1 }] } }), { code: 121 });
          assert.equal(await store.snapshot(table), before);
        });

    test('Records: $ and . are fine in strings and in objectIds', async () => {
      const table = unique('T');
      const id = await store.create(table, { objectId: '$a.b', F: { a: '$set', b: ['a.b'] } });
      assert.deepEqual((await store.read(table, id)).F, { a: '$set', b: ['a.b'] });
    });
  });
