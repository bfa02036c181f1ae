import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, date, type FieldType, mismatch, pointer, useStore } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';

const of = (type: string): FieldType => ({ type, targetClass: 'Targets' });

/** Name of a type as in the text of code 111, and a value of that type. */
const samples: [string, unknown][] = [
  ['String', 'text'],
  ['Number', 5],
  ['Boolean', true],
  ['Date', date('2024-01-02T03:04:05.006Z')],
  ['Pointer<Targets>', pointer('Targets', 'abcdefghij')],
  ['Pointer<Others>', pointer('Others', 'abcdefghij')],
  ['Array', [1]],
  ['Object', { a: 1 }],
];

const expected: [string, FieldType | string, readonly string[]][] = [
  ['String', 'String', ['String', 'Number']],
  ['Number', 'Number', ['Number']],
  ['Boolean', 'Boolean', ['Boolean']],
  ['Date', 'Date', ['Date']],
  ['Pointer<Targets>', of('Pointer'), ['Pointer<Targets>']],
  ['Array', 'Array', ['Array']],
  ['Object', 'Object', ['Object']],
  ['HTML/XML', 'HTML/XML', ['String', 'Number']],
  ['File', 'File', []],
  ['PrivateFile', 'PrivateFile', []],
  ['Relation<Targets>', of('Relation'), []],
];

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);

    for (const [type, field, accepted] of expected)
      for (const [got, value] of samples) {
        if (accepted.includes(got)) continue;
        test(`Errors/111: schema mismatch for <Table>.<Field>; expected ${type} but got ${got}`, async () => {
          const table = await store.table({ F: field, Name: 'String' });
          const id = await store.create(table, { Name: 'untouched' });
          const before = await store.snapshot(table);
          assertRefused(await store.post(table, { Name: 'new', F: value }), mismatch(table, 'F', type, got));
          assertRefused(await store.put(table, id, { Name: 'new', F: value }), mismatch(table, 'F', type, got));
          assert.equal(await store.snapshot(table), before);
        });
      }

    test('Errors/111: a bare Pointer string', async () => {
      const table = await store.table({ AccountId: of('Pointer') });
      assertRefused(
        await store.post(table, { AccountId: 'abcdefghij' }),
        mismatch(table, 'AccountId', 'Pointer<Targets>', 'String'),
      );
    });

    test('Errors/111: a Relation of another table', async () => {
      const table = await store.table({ R: of('Relation') });
      const value = { __type: 'Relation', className: 'Others' };
      assertRefused(await store.post(table, { R: value }), mismatch(table, 'R', 'Relation<Targets>', 'Relation<Others>'));
    });

    const numbers: [number, string][] = [
      [5, '5'],
      [-1.5, '-1.5'],
      [1e21, '1e+21'],
      [1e-7, '1e-7'],
      [0, '0'],
      [9007199254740991, '9007199254740991'],
    ];
    for (const [value, text] of numbers)
      test(`Limits: a string field converts a number silently (${value})`, async () => {
        const table = await store.table({ S: 'String' });
        const id = await store.create(table, { S: value });
        assert.equal((await store.read(table, id)).S, text);
        await store.update(table, id, { S: 'x' });
        await store.update(table, id, { S: value });
        assert.equal((await store.read(table, id)).S, text);
      });

    test('Limits: the number that became text is found as text', async () => {
      const table = await store.table({ S: 'String' });
      const id = await store.create(table, { S: 5 });
      const { body } = await store.call('GET', `/platform/classes/${table}`, { query: { where: { S: '5' } } });
      assert.equal(body.results[0]?.objectId, id);
    });

    const malformed: [string, unknown][] = [
      ['a Date without iso', { __type: 'Date' }],
      ['a Date of no moment', date('yesterday')],
      ['a Date with a month 13', date('2024-13-01T00:00:00.000Z')],
      ['a Date whose iso is a number', { __type: 'Date', iso: 5 }],
      ['a Date whose iso is null', { __type: 'Date', iso: null }],
      ['a Date whose iso is an array', { __type: 'Date', iso: ['2024-01-01T00:00:00.000Z'] }],
      ['a Pointer without objectId', { __type: 'Pointer', className: 'Targets' }],
      ['a Pointer without className', { __type: 'Pointer', objectId: 'abcdefghij' }],
      ['a Pointer whose objectId is a number', { __type: 'Pointer', className: 'Targets', objectId: 5 }],
      ['a Pointer whose objectId is an operator', { __type: 'Pointer', className: 'Targets', objectId: { $ne: '' } }],
      ['a Pointer whose className is an object', { __type: 'Pointer', className: {}, objectId: 'abcdefghij' }],
      ['a Pointer whose className is no name', { __type: 'Pointer', className: 'T"; --', objectId: 'abcdefghij' }],
      ['an unknown __type', { __type: 'Banana', a: 1 }],
      ['a __type that is no string', { __type: 5 }],
      ['a __type of the prototype chain', { __type: 'constructor' }],
      ['a Relation without className', { __type: 'Relation' }],
    ];
    for (const [what, value] of malformed)
      test(`Wire types: ${what} is refused, in a field of its type and in a new one`, async () => {
        const table = await store.table({ D: 'Date', P: of('Pointer'), R: of('Relation') });
        const before = await store.snapshot(table);
        for (const name of ['D', 'P', 'R', 'New']) {
          const answer = await store.post(table, { [name]: value });
          assert.equal(answer.status, 400, `${name}: ${answer.text}`);
          assert.ok([103, 106, 107, 111].includes(answer.body.code), answer.text);
        }
        assert.equal(await store.snapshot(table), before);
      });

    test('Records: a write either happens whole or not at all: one wrong field refuses the others', async () => {
      const table = await store.table({ A: 'String', N: 'Number' });
      const id = await store.create(table, { A: 'a', N: 1 });
      const before = await store.snapshot(table);
      for (const body of [
        { A: 'b', N: 'x' },
        { N: 'x', A: 'b' },
        { Fresh: 1, N: 'x' },
        { N: 'x', Fresh: { __op: 'Increment', amount: 1 } },
      ]) {
        assertRefused(await store.post(table, body), mismatch(table, 'N', 'Number', 'String'));
        assertRefused(await store.put(table, id, body), mismatch(table, 'N', 'Number', 'String'));
      }
      assert.equal(await store.snapshot(table), before);
    });
  });
