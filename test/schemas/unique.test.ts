/** Unique indexes. Reference: schemas.md#unique-indexes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertClean, assertRefused, date, type Json, path, pointer, unique, useStore } from '../support/records.ts';
import { type Answer, engines } from '../support/service.ts';

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);
    const put = (table: string, body: unknown) => store.call('PUT', `/platform/schemas/${table}`, { body });
    const define = async (fields: Record<string, string>, uniqueIndexes: object, more: object = {}) => {
      const table = await store.table(fields);
      const answer = await put(table, { uniqueIndexes, ...more });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.body.uniqueIndexes, uniqueIndexes);
      return table;
    };
    /** Asserts 137 with the fields, and a text that names them and the index. */
    const assertDuplicate = (
      { status, body, text }: Pick<Answer, 'status' | 'body' | 'text'>,
      fields: string[],
      index: string,
    ) => {
      const error = `Another record has this value of ${fields.join(', ')} (unique index ${index})`;
      assert.deepEqual([status, body], [400, { code: 137, error, fields }], text);
    };

    test('a second record with the value is 137 with the fields; the schema shows the index', async () => {
      const table = await define({ s: 'String' }, { one: { fields: ['s'] } });
      await store.create(table, { s: 'a' });
      assertDuplicate(await store.post(table, { s: 'a' }), ['s'], 'one');
      for (const s of ['A', 'a ', 'b']) await store.create(table, { s });
      const { body } = await store.call('GET', `/platform/schemas/${table}`);
      assert.deepEqual(body.uniqueIndexes, { one: { fields: ['s'] } });
    });

    test('records without a value contradict nothing: null, empty text, left out, a phone without digits', async () => {
      const indexes = { a: { fields: ['s'] }, b: { fields: ['p'], as: 'phone' }, c: { fields: ['n', 's'] } };
      const table = await define({ s: 'String', p: 'String', n: 'Number' }, indexes);
      for (let n = 0; n < 2; n++)
        for (const body of [{}, { s: '' }, { s: null }, { p: 'none' }, { p: '' }, { n: 1 }, { n: 1, s: '' }])
          await store.create(table, body);
      const id = await store.create(table, { s: 'x', n: 1 });
      await store.create(table, { s: 'y', n: 1 });
      assertDuplicate(await store.post(table, { s: 'x' }), ['s'], 'a');
      await store.update(table, id, { s: { __op: 'Delete' } });
      await store.create(table, { s: 'x' });
    });

    const forms: [as: string | undefined, first: string, same: string[], other: string[]][] = [
      [undefined, 'Dana', ['Dana'], ['dana', 'DANA', 'Dana ']],
      [
        'nocase',
        'Straße İ é שלום',
        ['STRASSE i̇ É שלום', 'strasse İ é שלום'],
        ['Straße I é שלום', 'Straße İ e שלום', 'Straße İ é שלומ'],
      ],
      ['nocase', 'istanbul', ['ISTANBUL', 'Istanbul'], ['ıstanbul', 'İstanbul']],
      ['nocase', 'ΟΔΟΣ', ['οδος', 'Οδοσ'], ['οδός']],
      ['phone', '+972 3-123.45(67)', ['03 123 4567', '972 31234567', 'tel. 031234567'], ['3 123 4567', '03 123 456']],
    ];
    for (const [as, first, same, other] of forms)
      test(`as ${as}: ${first} is the same as ${same.join(' / ')} and not as ${other.join(' / ')}`, async () => {
        const table = await define({ s: 'String' }, { one: { fields: ['s'], ...(as && { as }) } });
        await store.create(table, { s: first });
        for (const s of same) assertDuplicate(await store.post(table, { s }), ['s'], 'one');
        for (const s of other) await store.create(table, { s });
        assert.equal((await store.all(table))[0].s, first);
      });

    test('values of each type, and their combination', async () => {
      const fields = { n: 'Number', d: 'Date', b: 'Boolean', h: 'HTML/XML' };
      const table = await store.table({ ...fields, p: { type: 'Pointer', targetClass: '_User' } } as never);
      const all = { n: 0, d: date('2020-01-01T00:00:00.000Z'), b: false, h: '<i>', p: pointer('_User', 'master') };
      const names = Object.keys(all);
      assert.equal((await put(table, { uniqueIndexes: { all: { fields: names } } })).status, 200);
      await store.create(table, all);
      assertDuplicate(await store.post(table, { ...all, n: -0 }), names, 'all');
      for (const other of [{ n: 1 }, { d: date('2020-01-01T00:00:00.001Z') }, { b: true }, { h: '<I>' }, { p: null }])
        await store.create(table, { ...all, ...other });
    });

    test('updates and increments that make a duplicate are 137 and change nothing', async () => {
      const table = await define({ s: 'String', n: 'Number', x: 'Number' }, { one: { fields: ['s'] }, two: { fields: ['n'] } });
      const [a, b] = [await store.create(table, { s: 'a', n: 1 }), await store.create(table, { s: 'b', n: 2 })];
      assertDuplicate(await store.put(table, b, { s: 'a', x: 1 }), ['s'], 'one');
      assertDuplicate(await store.put(table, a, { n: { __op: 'Increment', amount: 1 }, x: 1 }), ['n'], 'two');
      await store.update(table, a, { s: 'a', n: { __op: 'Increment', amount: 2 } });
      assert.deepEqual(
        (await store.all(table)).map(({ s, n, x }) => [s, n, x]),
        [
          ['a', 3, undefined],
          ['b', 2, undefined],
        ],
      );
    });

    test('in a batch only the item that loses fails, whatever they write', async () => {
      const table = await define({ s: 'String', n: 'Number' }, { one: { fields: ['s'], as: 'nocase' } });
      const id = await store.create(table, { s: 'taken' });
      const at = (body: object, to = '') => ({ method: to ? 'PUT' : 'POST', path: path(table) + to, body });
      const requests = [
        ...[at({ s: 'a' }), at({ s: 'A' }), at({ s: 'Taken' }), at({ s: 'b', n: 1 }), at({ n: 1 }), at({ s: 'B' })],
        ...[at({ s: 'free' }, `/${id}`), at({ s: 'TAKEN' }), at({ s: 'FREE', n: 2 }), at({ s: 'c', n: 3 })],
      ];
      const { body } = await store.call('POST', '/platform/batch', { body: { requests } });
      assert.deepEqual(
        body.map((item: Json) => item.error?.code ?? 'done'),
        ['done', 137, 137, 'done', 'done', 137, 'done', 'done', 137, 'done'],
      );
      assert.deepEqual((await store.all(table)).map(({ s }) => s).sort(), ['TAKEN', 'a', 'b', 'c', 'free', undefined]);
    });

    test('in a transaction a duplicate undoes all, and the answer says which item it was', async () => {
      const table = await define({ s: 'String' }, { one: { fields: ['s'] } });
      const id = await store.create(table, { s: 'taken' });
      const requests = ['a', 'b', 'a', 'c'].map((s) => ({ method: 'POST', path: path(table), body: { s } }));
      const error = 'Another record has this value of s (unique index one)';
      const own = await store.call('POST', '/platform/batch', { body: { transaction: true, requests } });
      assert.deepEqual([own.status, own.body], [400, { code: 137, error, fields: ['s'], index: 2 }], own.text);
      const update = { method: 'PUT', path: path(table, id), body: { s: 'b' } };
      const other = await store.call('POST', '/platform/batch', { body: { transaction: true, requests: [requests[1], update] } });
      assert.deepEqual([other.status, other.body], [400, { code: 137, error, fields: ['s'], index: 1 }], other.text);
      assert.deepEqual(
        (await store.all(table)).map(({ s }) => s),
        ['taken'],
      );
      // A value that an earlier item frees may be taken by a later one.
      const freed = [
        { ...update, body: { s: 'other' } },
        { method: 'POST', path: path(table), body: { s: 'taken' } },
      ];
      assert.equal((await store.call('POST', '/platform/batch', { body: { transaction: true, requests: freed } })).status, 200);
    });

    test('many at once: one wins', async () => {
      const table = await define({ s: 'String' }, { one: { fields: ['s'], as: 'phone' } });
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, n) => store.post(table, { s: `0${n % 4}-5${'0'.repeat(6)}` })),
      );
      const lost = answers.filter(({ status }) => status !== 201);
      assert.deepEqual([answers.length - lost.length, (await store.all(table)).length], [4, 4]);
      for (const answer of lost) assertDuplicate(answer, ['s'], 'one');
    });

    test('an index that records contradict is 137 with what contradicts it, and is not made', async () => {
      const table = await store.table({ s: 'String', n: 'Number' });
      const ids: string[] = [];
      for (const s of ['A-1', 'a-1', 'A-1', 'b', '', '', 'c', 'C']) ids.push(await store.create(table, { s, n: 1 }));
      const plain = await put(table, { uniqueIndexes: { one: { fields: ['s'] } } });
      const error = 'Unique index one: 1 value of s occurs more than once';
      assert.deepEqual(
        [plain.status, plain.body],
        [400, { code: 137, error, count: 1, duplicates: [{ value: 'A-1', objectIds: [ids[0], ids[2]] }] }],
      );
      const folded = await put(table, {
        uniqueIndexes: { one: { fields: ['s'], as: 'nocase' } },
        fields: { more: { type: 'Date' } },
      });
      assert.deepEqual(folded.body.duplicates, [
        { value: 'A-1', objectIds: [ids[0], ids[1], ids[2]] },
        { value: 'c', objectIds: [ids[6], ids[7]] },
      ]);
      assert.equal(folded.body.count, 2);
      assertClean(folded);
      const both = await put(table, { uniqueIndexes: { one: { fields: ['n', 's'] } } });
      assert.deepEqual(both.body.duplicates, [{ value: [1, 'A-1'], objectIds: [ids[0], ids[2]] }]);
      const { body } = await store.call('GET', `/platform/schemas/${table}`);
      assert.deepEqual([body.uniqueIndexes, body.fields.more], [undefined, undefined]);
      await store.create(table, { s: 'A-1' });
    });

    test('at most twenty values are listed, with at most ten records each', async () => {
      const table = await store.table({ n: 'Number' });
      const requests = Array.from({ length: 100 }, (_, at) => ({
        method: 'POST',
        path: path(table),
        body: { n: at < 50 ? at % 25 : 99 },
      }));
      await store.call('POST', '/platform/batch', { body: { requests } });
      const { body } = await put(table, { uniqueIndexes: { one: { fields: ['n'] } } });
      assert.deepEqual([body.count, body.duplicates.length], [26, 20]);
      await store.call('POST', '/platform/batch', {
        body: {
          requests: (await store.all(table))
            .slice(0, 50)
            .map(({ objectId }) => ({ method: 'DELETE', path: path(table, objectId), body: {} })),
        },
      });
      const { body: last } = await put(table, { uniqueIndexes: { one: { fields: ['n'] } } });
      assert.deepEqual([last.count, last.duplicates.map(({ objectIds }: Json) => objectIds.length)], [1, [10]]);
    });

    test('an index goes when it is deleted or its field is, and may then be contradicted', async () => {
      const table = await define({ s: 'String', n: 'Number' }, { one: { fields: ['s'] }, two: { fields: ['n', 's'] } });
      await store.create(table, { s: 'a', n: 1 });
      assert.equal((await put(table, { uniqueIndexes: { one: { __op: 'Delete' } } })).status, 200);
      await store.create(table, { s: 'a', n: 2 });
      assert.equal((await put(table, { fields: { n: { __op: 'Delete' } } })).body.uniqueIndexes, undefined);
      await store.create(table, { s: 'a' });
      assertRefused(await put(table, { uniqueIndexes: { two: { __op: 'Delete' } } }), { code: 255 });
    });

    test('sent back as it was read it stays; another definition under its name is 255', async () => {
      const table = await define({ s: 'String', n: 'Number' }, { one: { fields: ['s'], as: 'phone' } });
      const { body } = await store.call('GET', `/platform/schemas/${table}`);
      const { uniqueIndexes, classLevelPermissions } = body;
      assert.equal((await put(table, { uniqueIndexes, classLevelPermissions })).status, 200);
      for (const other of [{ fields: ['s'] }, { fields: ['n'] }, { fields: ['s'], as: 'nocase' }])
        assertRefused(await put(table, { uniqueIndexes: { one: other } }), { code: 255 });
    });

    test('whoever may not know a field of the index is not told of it', async () => {
      const table = await define(
        { s: 'String', secret: 'String', open: 'String' },
        { s: { fields: ['secret'] }, o: { fields: ['open'] } },
      );
      const copy = { fields: { copy: { type: 'String', defaultValue: 'x' } }, uniqueIndexes: { c: { fields: ['copy'] } } };
      const everyone = { '*': true };
      const permissions = {
        create: everyone,
        find: everyone,
        get: everyone,
        update: everyone,
        protectedFields: { '*': ['secret', 'copy'] },
      };
      assert.equal((await put(table, { ...copy, classLevelPermissions: permissions })).status, 200);
      await store.create(table, { open: 'a', secret: 'b' });
      const body = { username: unique('u'), password: 'Aa123456x' };
      const session = (await store.call('POST', '/platform/users', { body })).body.sessionToken;
      const error = 'A duplicate value for a field with unique values was provided';
      const hidden = await store.post(table, { s: 'mine' }, { session });
      assert.deepEqual(hidden.body, { code: 137, error });
      await put(table, { uniqueIndexes: { c: { __op: 'Delete' } } });
      assertDuplicate(await store.post(table, { open: 'a' }, { session }), ['open'], 'o');
      const mine = await store.create(table, { open: 'b' }, { session });
      assertDuplicate(await store.put(table, mine, { open: 'a' }, { session }), ['open'], 'o');
    });

    test('an index follows a renamed field, and is kept when a field gets another type', async () => {
      const table = await define({ s: 'String', n: 'String' }, { one: { fields: ['s'], as: 'nocase' }, two: { fields: ['n'] } });
      await store.create(table, { s: 'a', n: '1' });
      const id = await store.create(table, { s: 'b', n: '1.0' });
      const renamed = await put(table, { fields: { s: { __op: 'Rename', to: 't' } } });
      assert.deepEqual(renamed.body.uniqueIndexes.one, { fields: ['t'], as: 'nocase' }, renamed.text);
      assertDuplicate(await store.post(table, { t: 'A' }), ['t'], 'one');
      const retype = { fields: { n: { __op: 'Retype', type: 'Number' } } };
      const { status, body, text } = await put(table, retype);
      assert.deepEqual([status, body.code, body.count, body.duplicates?.[0]?.value], [400, 137, 1, 1], text);
      assert.equal((await store.read(table, id)).n, '1.0');
      assertDuplicate(await store.post(table, { n: '1.0' }), ['n'], 'two');
      await store.update(table, id, { n: '2' });
      assert.equal((await put(table, retype)).status, 200);
      assertDuplicate(await store.post(table, { n: 2 }), ['n'], 'two');
      assertDuplicate(await store.post(table, { t: 'B' }), ['t'], 'one');
      assertRefused(await put(table, { fields: { t: { __op: 'Retype', type: 'Number', onError: 'null' } } }), { code: 255 });
      const { body: shown } = await store.call('GET', `/platform/schemas/${table}`);
      assert.deepEqual(shown.uniqueIndexes, { two: { fields: ['n'] }, one: { fields: ['t'], as: 'nocase' } });
    });

    test('building an index beside writes: every record is in it or was refused', async () => {
      const table = await store.table({ s: 'String' });
      const writes = Promise.all(Array.from({ length: 60 }, (_, n) => store.post(table, { s: `v${n % 30}` })));
      const made = await put(table, { uniqueIndexes: { one: { fields: ['s'] } } });
      const answers = await writes;
      for (const answer of answers) assert.ok(answer.status === 201 || answer.body.code === 137, answer.text);
      const values = (await store.all(table)).map(({ s }) => s);
      if (made.status === 200) assert.equal(new Set(values).size, values.length);
      else assert.deepEqual([made.body.code, new Set(values).size < values.length], [137, true], made.text);
    });
  });
