import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, date, type Json, mismatch, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';

const numbers = [
  '0.1',
  '0.30000000000000004',
  '0.3333333333333333',
  '123456789.12345679',
  '4.35',
  '1e308',
  '1.7976931348623157e308',
  '-1.7976931348623157e308',
  '5e-324',
  '2.2250738585072014e-308',
  '1e21',
  '1e-7',
  '9007199254740991',
  '9007199254740993',
  '-9007199254740993',
  '9223372036854775807',
  '18446744073709551616',
  '12345678901234567890123',
  '777141487089064300',
  '-31486368209159210',
  '-0',
  '1.0',
  '2147483648',
];

const moments = [
  '1970-01-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '2024-02-29T23:59:59.999Z',
  '2024-06-01T00:00:00.001Z',
  '2016-12-31T23:59:59.123Z',
  '0001-01-01T00:00:00.000Z',
  '0099-12-31T00:00:00.007Z',
  '9999-12-31T23:59:59.999Z',
  '+012345-06-07T08:09:10.011Z',
  '-000044-03-15T12:00:00.000Z',
  '+275760-09-13T00:00:00.000Z',
  '-271821-04-20T00:00:00.000Z',
];

const strings: [string, string][] = [
  ['Hebrew', 'שלום עולם, מה שלומך?'],
  ['Hebrew with points and marks', 'בְּרֵאשִׁית\u200f בָּרָא'],
  ['emoji outside the basic plane', '🙂👨‍👩‍👧‍👦🇮🇱'],
  ['composed and decomposed é, told apart', 'é\u0065\u0301'],
  ['every ASCII control but NUL', Array.from({ length: 31 }, (_, n) => String.fromCharCode(n + 1)).join('')],
  ['quotes and backslashes', `'"\\\`$\${x}{{y}}%s%_`],
  ['line separators', '\u2028\u2029\u0085'],
  ['non-characters and the byte order mark', '\ufffe\uffff\ufeff\ufffd'],
  ['a megabyte', 'אb🙂'.repeat(200_000)],
];

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);

    for (const text of numbers)
      test(`Wire types/Number: ${text} is kept as the double it is`, async () => {
        const table = await store.table({ N: 'Number', A: 'Array', O: 'Object' });
        const id = await store.create(table, `{"N":${text},"A":[${text}],"O":{"n":${text}}}`);
        // -0 may be read back as 0, because usual JSON writers do not distinguish them.
        const value = Number(text) + 0;
        for (const record of [await store.read(table, id), (await store.all(table))[0]]) {
          assert.equal(record.N + 0, value);
          assert.equal(record.A[0] + 0, value);
          assert.equal(record.O.n + 0, value);
        }
        const found = ['{"N":_}', '{"N":{"$in":[_,7]}}', '{"O.n":_}', '{"O.n":{"$in":[_,7]}}', '{"O.n":{"$gte":_,"$lte":_}}'];
        const inArrays = [
          '{"A":_}',
          '{"A":{"$in":[_,7]}}',
          '{"A":{"$all":[_]}}',
          '{"A":{"$containedBy":[_,7]}}',
          '{"A":{"$gte":_}}',
        ];
        for (const form of [...found, ...inArrays]) {
          const where = form.replaceAll('_', text);
          const { body } = await store.call('GET', `/platform/classes/${table}`, { query: { where } });
          assert.equal(body.results?.length, 1, where);
        }
      });

    for (const iso of moments)
      test(`Wire types/Date: ${iso} is kept to the millisecond`, async () => {
        const table = await store.table({ D: 'Date', A: 'Array', O: 'Object' });
        const sent = { D: date(iso), A: [date(iso)], O: { d: date(iso) } };
        const id = await store.create(table, sent);
        for (const { D, A, O } of [await store.read(table, id), (await store.all(table))[0]]) assert.deepEqual({ D, A, O }, sent);
        const { body } = await store.call('GET', `/platform/classes/${table}`, { query: { where: { D: date(iso) } } });
        assert.equal(body.results.length, 1);
      });

    test('Wire types/Date: moments order as moments, from the year -271821 to 275760', async () => {
      const table = await store.table({ D: 'Date' });
      for (const iso of [...moments].reverse()) await store.create(table, { D: date(iso) });
      const { body } = await store.call('GET', `/platform/classes/${table}`, { query: { order: 'D', limit: 100 } });
      const sorted = [...moments].sort((a, b) => Date.parse(a) - Date.parse(b));
      assert.deepEqual(
        body.results.map((row: Json) => row.D.iso),
        sorted,
      );
    });

    test('Wire types/Date: inside Arrays and Objects the same moment is found, however it is written', async () => {
      const table = await store.table({ A: 'Array', O: 'Object' });
      const id = await store.create(table, { A: [date('2024-01-01T02:00:00+02:00')], O: { d: date('2024-01-01') } });
      for (const where of [{ A: date('2024-01-01T00:00:00.000Z') }, { 'O.d': date('2024-01-01T00:00:00.000Z') }]) {
        const { body } = await store.call('GET', `/platform/classes/${table}`, { query: { where } });
        assert.deepEqual(
          body.results.map((row: Json) => row.objectId),
          [id],
        );
      }
    });

    for (const iso of ['2024-01-01T00:00:00Z', '2024-01-01T02:00:00.000+02:00', '2024-01-01'])
      test(`Wire types/Date: ${iso} is the same moment with milliseconds and Z, or refused`, async () => {
        const table = await store.table({ D: 'Date' });
        const answer = await store.post(table, { D: date(iso) });
        if (answer.status === 201) assert.deepEqual((await store.all(table))[0].D, date('2024-01-01T00:00:00.000Z'));
        else assertRefused(answer, { code: 111 });
      });

    test('Wire types/Date: a bare string in a Date field is 111', async () => {
      const table = await store.table({ D: 'Date' });
      assertRefused(await store.post(table, { D: '2024-01-01T00:00:00.000Z' }), mismatch(table, 'D', 'Date', 'String'));
    });

    for (const [what, text] of strings)
      test(`Wire types/String: ${what} comes back unchanged`, async () => {
        const table = await store.table({ S: 'String', H: 'HTML/XML', A: 'Array', O: 'Object' });
        const id = await store.create(table, {
          S: text,
          H: text,
          A: [text],
          O: { [text.slice(0, 4).replace(/[.$]/g, '')]: text },
        });
        for (const record of [await store.read(table, id), (await store.all(table))[0]]) {
          assert.ok(record.S === text && record.H === text && record.A[0] === text);
          assert.ok(Object.values(record.O)[0] === text);
        }
      });

    test('Wire types/Object: the order of keys is kept, at every level', async () => {
      const table = await store.table({ O: 'Object', A: 'Array' });
      const O = { z: 1, a: { y: [{ q: 1, b: 2 }], x: null, B: {} }, m: 'x', Z: false };
      const record = await store.read(table, await store.create(table, { O, A: [O] }));
      assert.equal(JSON.stringify(record.O), JSON.stringify(O));
      assert.equal(JSON.stringify(record.A), JSON.stringify([O]));
    });

    test('Wire types/Object, Array: nesting of 60 levels is kept', async () => {
      const table = await store.table({ O: 'Object', A: 'Array' });
      let O: Json = { end: true };
      let A: Json = ['end'];
      for (let level = 0; level < 60; level++) [O, A] = [{ o: O }, [A]];
      const record = await store.read(table, await store.create(table, { O, A }));
      assert.deepEqual([record.O, record.A], [O, A]);
    });

    test('Wire types/Array: 20,000 elements keep their order', async () => {
      const table = await store.table({ A: 'Array' });
      const A = Array.from({ length: 20_000 }, (_, n) => n);
      assert.deepEqual((await store.read(table, await store.create(table, { A }))).A, A);
    });

    test('Edge: a body of 15 MB is below the bound and is kept', async () => {
      const table = await store.table({ S: 'String' });
      const text = 'x'.repeat(15_000_000);
      const record = await store.read(table, await store.create(table, { S: text }));
      assert.ok(record.S === text);
    });
  });
