/** Upserts. Reference: records.md#upsert. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, date, type Json, pointer, unique, useStore } from '../support/records.ts';
import { type Answer, type CallOptions, engines } from '../support/service.ts';

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);
    const define = async (fields: Json, uniqueIndexes: object, more: object = {}): Promise<string> => {
      const table = await store.table(fields);
      const answer = await store.call('PUT', `/platform/schemas/${table}`, { body: { uniqueIndexes, ...more } });
      assert.equal(answer.status, 200, answer.text);
      return table;
    };
    const send = (table: string, matchOn: unknown, records: unknown, options: CallOptions = {}): Promise<Answer> =>
      store.call('POST', `/platform/upsert/${table}`, { body: { matchOn, records }, ...options });
    const upsert = async (table: string, matchOn: string[], records: Json[], options?: CallOptions): Promise<Json[]> => {
      const answer = await send(table, matchOn, records, options);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.results.length, records.length);
      return answer.body.results;
    };
    const byCode = { code: { fields: ['code'] } };
    const newUser = async () => {
      const body = { username: unique('u'), password: 'Aa123456x' };
      const answer = await store.call('POST', '/platform/users', { body });
      return { session: answer.body.sessionToken as string, id: answer.body.objectId as string };
    };

    test('creates what no record has and updates what one has; what is not sent stays', async () => {
      const table = await define({ code: 'String', a: 'Number', b: 'Number' }, byCode);
      const id = await store.create(table, { code: 'x', a: 1, b: 1 });
      const results = await upsert(
        table,
        ['code'],
        [
          { code: 'x', a: 2 },
          { code: 'y', a: 3 },
        ],
      );
      assert.deepEqual(
        results.map(({ created, ...rest }) => [created, Object.keys(rest)]),
        [
          [false, ['objectId', 'updatedAt']],
          [true, ['objectId', 'updatedAt']],
        ],
      );
      const records = await store.all(table);
      assert.deepEqual(
        records.map(({ objectId, code, a, b, updatedAt }) => [objectId, code, a, b, updatedAt]),
        [
          [id, 'x', 2, 1, results[0].updatedAt],
          [results[1].objectId, 'y', 3, undefined, results[1].updatedAt],
        ],
      );
    });

    test('two of one request with one key: the first creates, the next update it, in their order', async () => {
      const table = await define({ code: 'String', n: 'Number', log: 'Array' }, { code: { fields: ['code'], as: 'nocase' } });
      const add = (n: number) => ({ __op: 'Add', objects: [n] });
      const codes = ['a', 'b', 'A', 'a', 'c', 'B'];
      const results = await upsert(
        table,
        ['code'],
        codes.map((code, n) => ({ code, n, log: add(n) })),
      );
      assert.deepEqual(
        results.map(({ created }) => created),
        [true, true, false, false, true, false],
      );
      assert.deepEqual((await store.all(table)).map(({ code, n, log }) => [code, n, log]).sort(), [
        ['B', 5, [1, 5]],
        ['a', 3, [0, 2, 3]],
        ['c', 4, [4]],
      ]);
    });

    test('matches in the form of the index: a phone in another notation', async () => {
      const table = await define({ phone: 'String', name: 'String' }, { phone: { fields: ['phone'], as: 'phone' } });
      const id = await store.create(table, { phone: '+972-3-1234567', name: 'old' });
      const [result] = await upsert(table, ['phone'], [{ phone: '03 123 4567', name: 'new' }]);
      assert.deepEqual([result.objectId, result.created], [id, false]);
      const { phone, name } = await store.read(table, id);
      assert.deepEqual([phone, name], ['03 123 4567', 'new']);
    });

    test('matches a combination of fields of several types, in any order of names', async () => {
      const fields = { n: 'Number', d: 'Date', b: 'Boolean', p: { type: 'Pointer', targetClass: '_User' }, x: 'String' };
      const table = await define(fields, { all: { fields: ['n', 'd', 'b', 'p'] } });
      const all = { n: 1.5, d: date('2020-01-01T00:00:00.000Z'), b: true, p: pointer('_User', 'master') };
      const id = await store.create(table, all);
      const records = [
        { ...all, x: 'same' },
        { ...all, n: 2 },
        { ...all, b: false },
        { ...all, d: date('2021-01-01T00:00:00.000Z') },
      ];
      const results = await upsert(table, ['p', 'b', 'd', 'n'], records);
      assert.deepEqual(
        results.map(({ created }) => created),
        [false, true, true, true],
      );
      assert.equal((await store.read(table, id)).x, 'same');
    });

    test('a record without a value, or with a wrong one, fails alone', async () => {
      const table = await define({ code: 'String', n: 'Number' }, { code: { fields: ['code'], as: 'phone' } });
      const records = [
        { n: 1 },
        { code: null },
        { code: '' },
        { code: 'none' },
        5,
        { code: { __op: 'Delete' } },
        { code: [] },
        { code: '1', n: 'x' },
        { code: '2' },
      ];
      const results = await upsert(table, ['code'], records as Json[]);
      assert.deepEqual(
        results.map(({ error }) => error?.code ?? 'made'),
        [142, 142, 142, 142, 107, 107, 111, 111, 'made'],
      );
      assert.deepEqual(results[0].error, { code: 142, error: 'code is required' });
      assert.equal((await store.all(table)).length, 1);
    });

    test('errors of creates and updates are those of the record: other indexes, required fields', async () => {
      const table = await define(
        { code: 'String', other: 'String' },
        { ...byCode, other: { fields: ['other'] } },
        { fields: { need: { type: 'String', required: true } } },
      );
      await store.create(table, { code: 'a', other: 'taken', need: 'x' });
      await store.create(table, { code: 'b', need: 'x' });
      const results = await upsert(
        table,
        ['code'],
        [
          ...[
            { code: 'b', other: 'taken' },
            { code: 'c', other: 'taken', need: 'x' },
          ],
          ...[{ code: 'd' }, { code: 'a', need: '' }, { code: 'e', need: 'x' }],
        ],
      );
      const duplicate = { code: 137, error: 'Another record has this value of other (unique index other)', fields: ['other'] };
      assert.deepEqual(results[0].error, duplicate);
      assert.deepEqual(results[1].error, duplicate);
      assert.deepEqual([results[2].error, results[3].error], Array(2).fill({ code: 142, error: 'need is required' }));
      assert.equal(results[4].created, true);
    });

    test('without a unique index of the fields: 102, which says the call that makes one; that call does', async () => {
      const table = await define({ a: 'String', b: 'String' }, { both: { fields: ['a', 'b'] } });
      for (const matchOn of [['a'], ['b'], ['nowhere'], ['constructor']])
        assertRefused(await send(table, matchOn, []), { code: 102, error: /PUT schemas/ });
      const { body } = await send(table, ['a', 'a'], [{ a: 'x' }]);
      const [, method, at, call] = /Make one: (\w+) (\S+) (.*)$/.exec(body.error) ?? [];
      assert.equal((await store.call(method as string, `/platform/${at}`, { body: JSON.parse(call as string) })).status, 200);
      assert.equal((await upsert(table, ['a'], [{ a: 'x' }]))[0].created, true);
      assertRefused(await send(unique('None'), ['a'], [{ a: 'x' }]), { code: 102, error: /POST schemas/ });
    });

    test('a body of another form is 107, and nothing is written', async () => {
      const table = await define({ code: 'String' }, byCode);
      const one = { code: 'x' };
      for (const body of [
        ...[
          {},
          [],
          { matchOn: ['code'] },
          { records: [one] },
          { matchOn: 'code', records: [one] },
          { matchOn: [], records: [one] },
        ],
        ...[
          { matchOn: [5], records: [one] },
          { matchOn: ['code'], records: one },
          { matchOn: ['code'], records: [one], more: 1 },
        ],
        { matchOn: Array.from({ length: 9 }, (_, n) => `f${n}`), records: [one] },
        { matchOn: ['x'.repeat(129)], records: [one] },
        { matchOn: ['code'], records: Array.from({ length: 1_001 }, (_, n) => ({ code: `${n}` })) },
      ])
        assertRefused(await store.call('POST', `/platform/upsert/${table}`, { body }), { code: 107 });
      assert.deepEqual(await store.all(table), []);
      assert.deepEqual(await upsert(table, ['code'], []), []);
      const item = { method: 'POST', path: `/platform/upsert/${table}`, body: { matchOn: ['code'], records: [one] } };
      assertRefused(await store.call('POST', '/platform/batch', { body: { requests: [item] } }), { code: 107 });
    });

    test('a thousand records, again and with half of them new', async () => {
      const table = await define({ code: 'String', n: 'Number' }, byCode);
      const records = (from: number, n: number) => Array.from({ length: 1_000 }, (_, at) => ({ code: `c${from + at}`, n }));
      assert.ok((await upsert(table, ['code'], records(0, 1))).every(({ created }) => created));
      const results = await upsert(table, ['code'], records(500, 2));
      assert.deepEqual(
        [results.filter(({ created }) => created).length, results.slice(0, 500).every(({ created }) => !created)],
        [500, true],
      );
      const counts = new Map<number, number>();
      for (const { n } of await store.all(table)) counts.set(n, (counts.get(n) ?? 0) + 1);
      assert.deepEqual([...counts].sort(), [
        [1, 500],
        [2, 1_000],
      ]);
    });

    test('history and flags as of single writes', async () => {
      const table = await define({ code: 'String', n: 'Number' }, byCode, { timeline: { displayFields: {} } });
      const id = await store.create(table, { code: 'a', dontUpdatePlatformTimeline: true });
      await upsert(
        table,
        ['code'],
        [
          { code: 'a', n: 1 },
          { code: 'b', n: 2 },
          { code: 'c', dontUpdatePlatformTimeline: true },
        ],
      );
      const { body } = await store.call('GET', '/platform/classes/_Timeline', {
        query: { where: { objectClass: table }, order: 'event' },
      });
      assert.deepEqual(
        body.results.map(({ event, data, objectIdValue }: Json) => [event, data, objectIdValue === id]),
        [
          ['create', { code: 'b', n: 2 }, false],
          ['update', { code: 'a', n: 1 }, true],
        ],
      );
    });

    test('needs create for new records and update for others, and rows as the caller may change them', async () => {
      const [owner, other] = [await newUser(), await newUser()];
      const everyone = { '*': true };
      const permissions = (more: object) => ({ classLevelPermissions: { find: everyone, get: everyone, ...more } });
      const table = await define({ code: 'String', n: 'Number' }, byCode, permissions({ create: everyone, update: everyone }));
      const ACL = { [owner.id]: { read: true, write: true } };
      const readable = { ...ACL, '*': { read: true } };
      for (const [code, acl] of [
        ['mine', ACL],
        ['shown', readable],
      ] as const)
        await store.create(table, { code, n: 1, ACL: acl });
      const records = [
        { code: 'mine', n: 2 },
        { code: 'shown', n: 2 },
        { code: 'new', n: 2 },
      ];
      const duplicate = { code: 137, error: 'Another record has this value of code (unique index code)', fields: ['code'] };
      const results = await upsert(table, ['code'], records, { session: other.session });
      // What it may not change is answered like a create.
      assert.deepEqual([results[0].error, results[1].error, results[2].created], [duplicate, duplicate, true]);
      assert.deepEqual(
        (await upsert(table, ['code'], records, { session: owner.session })).map(({ created }) => created),
        [false, false, false],
      );
      const put = (more: object) => store.call('PUT', `/platform/schemas/${table}`, { body: permissions(more) });
      await put({ update: everyone });
      const updates = await upsert(table, ['code'], [{ code: 'new' }, { code: 'newer' }], { session: other.session });
      assert.deepEqual([updates[0].created, updates[1].error.code], [false, 119]);
      await put({ create: everyone });
      const creates = await upsert(table, ['code'], [{ code: 'new' }, { code: 'newer' }], { session: other.session });
      assert.deepEqual([creates[0].error.code, creates[1].created], [119, true]);
      await put({});
      assertRefused(await send(table, ['code'], [{ code: 'x' }], { session: other.session }), { code: 119 });
      assertRefused(await send(table, ['code'], [{ code: 'x' }], { as: 'none' as never }), { code: 119 });
      await put({ create: everyone, update: everyone, protectedFields: { '*': ['code'] } });
      assertRefused(await send(table, ['code'], [{ code: 'x' }], { session: other.session }), { code: 119 });
    });

    test('no right to create: a record that the caller may not change is answered like one that does not exist', async () => {
      const table = await define({ code: 'String', must: 'String', n: 'Number' }, byCode);
      const caller = await newUser();
      const everyone = { '*': true };
      const rights = async (more: object) => {
        const body = { fields: { must: { type: 'String', required: true } }, classLevelPermissions: more };
        assert.equal((await store.call('PUT', `/platform/schemas/${table}`, { body })).status, 200);
      };
      await store.create(table, { code: 'secret', must: 'x', ACL: { [unique('u')]: { read: true } } });
      await store.create(table, { code: 'open', must: 'x' });
      const send = async (code: string, more: object) =>
        (await upsert(table, ['code'], [{ code, ...more }], { session: caller.session }))[0];
      const bodies = [{}, { must: 'y' }, { must: null }, { n: 'x' }, { n: 1, must: 'y' }];
      for (const readable of [{}, { find: everyone, get: everyone }]) {
        await rights({ update: everyone, ...readable });
        for (const more of bodies) assert.deepEqual(await send('secret', more), await send('absent', more), JSON.stringify(more));
        assert.equal((await send('open', { n: 1 })).created, false);
        assert.equal((await send('open', { n: 'x' })).error.code, 111);
        await rights({ update: everyone, create: everyone, ...readable });
        const { error } = await send('secret', { must: 'y' });
        assert.deepEqual([error.code, error.fields], [137, ['code']]);
      }
    });

    test('many writers with the same keys: one record for each, each with what the last of them set', async () => {
      const table = await define({ code: 'String', n: 'Number', sum: 'Number' }, { code: { fields: ['code'], as: 'nocase' } });
      const plus = { __op: 'Increment', amount: 1 };
      const writer = (n: number) =>
        upsert(
          table,
          ['code'],
          Array.from({ length: 5 }, (_, at) => ({ code: n % 2 ? `K${at}` : `k${at}`, sum: plus })),
        );
      const results = (await Promise.all(Array.from({ length: 40 }, (_, n) => writer(n)))).flat();
      for (const { error } of results) assert.equal(error, undefined);
      assert.equal(results.filter(({ created }) => created).length, 5);
      assert.deepEqual(
        (await store.all(table)).map(({ code, sum }) => [code.toLowerCase(), sum]).sort(),
        [0, 1, 2, 3, 4].map((at) => [`k${at}`, 40]),
      );
    });

    test('a former name of a field is 105 with the present one, in matchOn and in a record', async () => {
      const table = await define({ old: 'String', n: 'Number' }, { code: { fields: ['old'] } });
      const renames = { fields: { old: { __op: 'Rename', to: 'code' } } };
      assert.equal((await store.call('PUT', `/platform/schemas/${table}`, { body: renames })).status, 200);
      const renamed = { code: 105, error: 'Invalid field name: old (renamed to code)' };
      assertRefused(await send(table, ['old'], [{ old: 'x' }]), renamed);
      const results = await upsert(table, ['code'], [{ old: 'x' }, { code: 'x' }]);
      assert.deepEqual([results[0].error, results[1].created], [renamed, true]);
    });

    test('with an Idempotency-Key: repeated, it has one effect and one answer', async () => {
      const table = await define({ code: 'String', n: 'Number' }, byCode);
      const request = { headers: { 'Idempotency-Key': unique('key') } };
      const records = [{ code: 'a', n: { __op: 'Increment', amount: 1 } }, { n: 1 }];
      const [first, second] = [await send(table, ['code'], records, request), await send(table, ['code'], records, request)];
      assert.deepEqual([first.status, second.text, second.headers.get('idempotency-replayed')], [200, first.text, 'true']);
      assert.deepEqual(
        (await store.all(table)).map(({ n }) => n),
        [1],
      );
    });

    test('it is logged as a write', async () => {
      const table = await define({ code: 'String' }, byCode);
      await upsert(table, ['code'], [{ code: 'x' }]);
      const where = { path: `/platform/upsert/${table}` };
      for (let n = 0; ; n++) {
        const { body } = await store.call('GET', '/platform/classes/_RequestLog', { query: { where } });
        if (body.results.length === 1) break;
        assert.ok(n < 100, 'a row of the request log');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });
  });
