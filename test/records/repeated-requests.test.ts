/** `Idempotency-Key`: a repeated request has one effect and one answer. Reference: requests.md#repeated-requests. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { rowsOf } from '../audit/rows.ts';
import { assertRefused, type Json, path, unique, useStore } from '../support/records.ts';
import { type Answer, type CallOptions, engines } from '../support/service.ts';
import { newName, password, signUp, tokenForm } from '../support/users.ts';

const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));
const isReplay = ({ headers }: Answer): boolean => headers.get('idempotency-replayed') === 'true';

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);
    const keyed = (key: string, more: CallOptions = {}): CallOptions => ({
      ...more,
      headers: { 'Idempotency-Key': key, ...more.headers },
    });
    /** Sends a request twice with a new key; the second has the answer of the first. */
    const twice = async (method: string, at: string, options: CallOptions = {}) => {
      const key = randomUUID();
      const first = await store.call(method, at, keyed(key, options));
      const second = await store.call(method, at, keyed(key, options));
      assert.deepEqual([isReplay(first), isReplay(second)], [false, true], second.text);
      assert.deepEqual([second.status, second.text], [first.status, first.text]);
      for (const name of ['location', 'etag', 'cache-control', 'content-type'])
        assert.equal(second.headers.get(name), first.headers.get(name), name);
      return first;
    };

    test('a create: one record, one answer with Location and ETag', async () => {
      const table = await store.table({ A: 'Number' });
      const { status, body } = await twice('POST', path(table), { body: { A: 1 } });
      assert.equal(status, 201);
      assert.deepEqual(
        (await store.all(table)).map(({ objectId }) => objectId),
        [body.objectId],
      );
      const own = await twice('POST', path(table), { body: { objectId: unique('own'), New: 'x' } });
      assert.equal(own.status, 201);
      assert.equal((await twice('POST', path(unique('T')), { body: { A: 1 } })).status, 201);
    });

    test('an update: operators count once, and the values of the answer are those of the first', async () => {
      const table = await store.table({ A: 'Number', L: 'Array', S: 'String' });
      const id = await store.create(table, { A: 1 });
      const body = { A: { __op: 'Increment', amount: 5 }, L: { __op: 'Add', objects: ['x'] }, S: 'b' };
      const { body: answer } = await twice('PUT', path(table, id), { body });
      assert.deepEqual([answer.A, answer.L], [6, ['x']]);
      const key = randomUUID();
      const first = await store.put(table, id, body, keyed(key));
      await store.update(table, id, { A: 100, L: [] });
      const later = await store.put(table, id, body, keyed(key));
      assert.deepEqual([later.status, later.body], [200, first.body]);
      assert.deepEqual([first.body.A, first.body.L], [11, ['x', 'x']]);
      assert.equal((await store.read(table, id)).A, 100);
      assert.equal(later.headers.get('etag'), first.headers.get('etag'));
      const plain = await twice('PUT', path(table, id), { body: { S: 'c' } });
      assert.deepEqual(Object.keys(plain.body).sort(), ['objectId', 'updatedAt']);
    });

    test('an update is answered as it was, although its fields were changed since', async () => {
      const table = await store.table({ A: 'Number', L: 'Array', P: 'Array' });
      const id = await store.create(table, { A: 1 });
      const pointers = [{ __type: 'Pointer', className: table, objectId: id }];
      const body = {
        A: { __op: 'Increment', amount: 1 },
        L: { __op: 'Add', objects: ['x'] },
        P: { __op: 'Add', objects: pointers },
      };
      const key = randomUUID();
      const first = await store.put(table, id, body, keyed(key));
      assert.deepEqual([first.body.A, first.body.L, first.body.P], [2, ['x'], pointers]);
      for (const fields of [
        { A: { __op: 'Retype', type: 'String' } },
        { A: { __op: 'Retype', type: 'Boolean', onError: 'null' }, L: { __op: 'Retype', type: 'String', onError: 'null' } },
        { A: { __op: 'Rename', to: 'B' }, L: { __op: 'Delete' } },
        { A: { type: 'Date' } },
        { P: { __op: 'Rename', to: 'Q' } },
      ]) {
        const changed = await store.call('PUT', `/platform/schemas/${table}`, { body: { fields } });
        assert.equal(changed.status, 200, changed.text);
        const later = await store.put(table, id, body, keyed(key));
        assert.deepEqual([later.status, later.text, isReplay(later)], [200, first.text, true], JSON.stringify(fields));
      }
    });

    test('a delete answers again, although the record is gone', async () => {
      const table = await store.table({ A: 'Number' });
      const id = await store.create(table, {});
      assert.equal((await twice('DELETE', path(table, id))).text, '{}');
      assertRefused(await store.remove(table, id, keyed(randomUUID())), { code: 101 });
    });

    test('with If-Match: the repetition is answered, although the version is outdated by the first', async () => {
      const table = await store.table({ A: 'Number' });
      const { headers, body } = await store.post(table, { A: 1 });
      const match = { 'If-Match': headers.get('etag') ?? '' };
      const done = await twice('PUT', path(table, body.objectId), { body: { A: 2 }, headers: match });
      assert.equal(done.status, 200);
      const objectId = unique('own');
      await twice('POST', path(table), { body: { objectId }, headers: { 'If-None-Match': '*' } });
      await twice('DELETE', path(table, body.objectId), { headers: { 'If-Match': done.headers.get('etag') ?? '' } });
    });

    test('one row of the timeline, and one of the request log for each request', async () => {
      const { body } = await twice('POST', path('Tasks'), { body: { Name: 'a' } });
      await twice('PUT', path('Tasks', body.objectId), { body: { Name: 'b' } });
      assert.equal((await rowsOf(store, 'Tasks', body.objectId)).length, 2);
    });

    test('another body, method or path: 422, and nothing is done', async () => {
      const table = await store.table({ A: 'Number' });
      const id = await store.create(table, { A: 0 });
      const key = randomUUID();
      assert.equal((await store.post(table, { A: 1 }, keyed(key))).status, 201);
      const before = await store.snapshot(table);
      for (const [method, at, body] of [
        ['POST', path(table), { A: 2 }],
        ['POST', path(table), {}],
        ['POST', path('Tasks'), { A: 1 }],
        ['PUT', path(table, id), { A: 1 }],
        ['DELETE', path(table, id), undefined],
        ['POST', '/platform/batch', { requests: [] }],
      ] as const) {
        const answer = await store.call(method, at, keyed(key, body === undefined ? {} : { body }));
        assert.deepEqual(
          answer.body,
          { code: 422, error: 'The Idempotency-Key was used for another request.' },
          `${method} ${at}`,
        );
        assert.equal(answer.status, 422);
      }
      assert.equal(await store.snapshot(table), before);
      assert.equal((await store.post(table, { A: 1 }, keyed(key))).status, 201);
    });

    test('20 requests with one key at once: one record; all others are 409 or the same answer', async () => {
      const table = await store.table({ A: 'Number' });
      const key = randomUUID();
      const answers = await times(20, () => store.post(table, { A: 1 }, keyed(key)));
      const created = answers.filter(({ status }) => status === 201);
      assert.equal(created.filter((one) => !isReplay(one)).length, 1);
      assert.equal(new Set(created.map(({ text }) => text)).size, 1);
      for (const answer of answers)
        if (answer.status !== 201)
          assert.deepEqual(
            [answer.status, answer.body],
            [409, { code: 409, error: 'A request with this Idempotency-Key is under way.' }],
          );
      assert.equal((await store.all(table)).length, 1);
    });

    test('a refused request keeps no key: it is tried again', async () => {
      const table = await store.table({ A: 'Number' });
      const key = randomUUID();
      assertRefused(await store.post(table, { A: 'x' }, keyed(key)), { code: 111 });
      assertRefused(await store.post(table, { A: 'x' }, keyed(key)), { code: 111 });
      const { status } = await store.post(table, { A: 5 }, keyed(key));
      assert.equal(status, 201);
      const objectId = unique('own');
      const late = randomUUID();
      assertRefused(await store.put(table, objectId, { A: 1 }, keyed(late)), { code: 101 });
      await store.create(table, { objectId });
      assert.equal((await store.put(table, objectId, { A: 1 }, keyed(late))).status, 200);
    });

    test('a key belongs to its caller: master key, API key, the sessions of a user', async () => {
      const user = await signUp(store);
      const table = await store.table({ A: 'Number' });
      const permissions = { create: { '*': true }, get: { '*': true } };
      await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: permissions } });
      const key = randomUUID();
      const callers: CallOptions[] = [
        { as: 'master' },
        { as: 'apiKey' },
        { session: user.token },
        { session: (await signUp(store)).token },
      ];
      for (const caller of callers) {
        const answer = await store.post(table, { A: 1 }, keyed(key, caller));
        assert.deepEqual([answer.status, isReplay(answer)], [201, false], answer.text);
      }
      assert.equal((await store.all(table)).length, callers.length);
      const login = { username: user.username, password };
      const { body } = await store.call('POST', '/platform/login', { as: 'anonymous', body: login });
      assert.ok(isReplay(await store.post(table, { A: 1 }, keyed(key, { session: body.sessionToken }))));
      const denied = await store.post(table, { A: 1 }, keyed(key, { as: 'anonymous' }));
      assertRefused(denied, { code: 119 });
    });

    for (const [what, value] of [
      ['empty', ''],
      ['256 characters', 'x'.repeat(256)],
      ['a space', 'a b'],
      ['not of ASCII', 'caf\u00e9'],
    ] as const)
      test(`a key that is ${what}: 400, and nothing is done`, async () => {
        const table = await store.table({ A: 'Number' });
        const answer = await store.post(table, { A: 1 }, keyed(value));
        assertRefused(answer, { code: 107, error: 'Invalid Idempotency-Key: it should have 1 to 255 visible characters' });
        assert.deepEqual(await store.all(table), []);
      });

    test('keys of 1 and of 255 characters; on GET a key is ignored', async () => {
      const table = await store.table({ A: 'Number' });
      for (const key of ['~', '!'.repeat(255), '"quoted"']) {
        const own = key.length === 1 ? keyed(key) : keyed(key);
        await store.post(table, { A: 1 }, own);
        assert.ok(isReplay(await store.post(table, { A: 1 }, own)), key);
        for (const value of [key, '', 'a b'])
          assert.equal((await store.call('GET', path(table), keyed(value))).body.results.length > 0, true);
        await store.call('DELETE', `${path(table)}?where=%7B%7D&expect=1`);
      }
    });

    test('a sign-up: one user, and the same session token, which is not stored in clear text', async () => {
      const username = newName();
      const { body } = await twice('POST', '/platform/users', { body: { username, password } });
      assert.match(body.sessionToken, tokenForm);
      const me = await store.call('GET', '/platform/users/me', { session: body.sessionToken });
      assert.equal(me.body.objectId, body.objectId);
      const again = await store.call('POST', '/platform/users', keyed(randomUUID(), { body: { username, password } }));
      assertRefused(again, { code: 202 });
    });

    test('a new session is opened once', async () => {
      const user = await signUp(store);
      const { body } = await twice('POST', '/platform/sessions', { session: user.token, body: {} });
      assert.match(body.sessionToken, tokenForm);
      const { body: all } = await store.call('GET', '/platform/sessions', { session: user.token });
      assert.equal(all.results.length, 2);
    });

    test('roles and users by their aliases', async () => {
      const { body } = await twice('POST', '/platform/roles', { body: { name: unique('R'), ACL: {} } });
      await twice('PUT', `/platform/roles/${body.objectId}`, { body: { ACL: { '*': { read: true } } } });
      await twice('DELETE', `/platform/roles/${body.objectId}`);
      const user = await signUp(store);
      await twice('PUT', `/platform/users/${user.id}`, { body: { job: 'x' } });
    });

    test('a session user who may not read a record gets no values of it, nor in a repetition', async () => {
      const user = await signUp(store);
      const table = await store.table({ A: 'Number' });
      const permissions = { update: { '*': true }, get: { '*': true } };
      await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: permissions } });
      const id = await store.create(table, { A: 1, ACL: { '*': { write: true } } });
      const as = { session: user.token, body: { A: { __op: 'Increment', amount: 1 } } };
      const hidden = await twice('PUT', path(table, id), as);
      assert.equal(hidden.body.A, undefined);
      await store.update(table, id, { ACL: { '*': { read: true, write: true } } });
      assert.equal((await twice('PUT', path(table, id), as)).body.A, 3);
    });

    test('writes by where: once, and the answer again', async () => {
      const table = await store.table({ A: 'Number' });
      await times(3, () => store.create(table, { A: 1 }));
      const at = `${path(table)}?where=${encodeURIComponent('{"A":{"$gt":0}}')}`;
      const { body } = await twice('PUT', at, { body: { A: { __op: 'Increment', amount: 1 } } });
      assert.equal(body.updated, 3);
      assert.deepEqual(
        (await store.all(table)).map(({ A }) => A),
        [2, 2, 2],
      );
    });

    test('a table with a unique index: the repetition is answered, and is no duplicate', async () => {
      const table = await store.table({ Ext: 'String', N: 'Number' });
      const uniqueIndexes = { byExt: { fields: ['Ext'] } };
      const made = await store.call('PUT', `/platform/schemas/${table}`, { body: { uniqueIndexes } });
      assert.equal(made.status, 200, made.text);
      await twice('POST', path(table), { body: { Ext: 'a', N: 1 } });
      assert.equal((await store.post(table, { Ext: 'a' }, keyed(randomUUID()))).body.code, 137);
      const up = { Ext: 'a', N: { __op: 'Increment', amount: 1 } };
      await twice('POST', `/platform/upsert/${table}`, { body: { matchOn: ['Ext'], records: [up] } });
      assert.deepEqual(
        (await store.all(table)).map(({ N }) => N),
        [2],
      );
    });

    test('X-Platform-Request-Id: a repetition is 400 code 159, whatever its body', async () => {
      const table = await store.table({ A: 'Number' });
      const named = { headers: { 'X-Platform-Request-Id': randomUUID() } };
      assert.equal((await store.post(table, { A: 1 }, named)).status, 201);
      for (const body of [{ A: 1 }, { A: 2 }])
        assertRefused(await store.post(table, body, named), { code: 159, error: 'Duplicate request' });
      assert.equal((await store.all(table)).length, 1);
      const at = `/platform/batch`;
      const batch = {
        body: { requests: [{ method: 'POST', path: path(table), body: {} }] },
        headers: { 'X-Platform-Request-Id': 'x' },
      };
      const twice = [await store.call('POST', at, batch), await store.call('POST', at, batch)];
      assert.deepEqual(
        twice.map(({ status }) => status),
        [200, 400],
      );
      assertRefused(await store.post(table, {}, { headers: { 'X-Platform-Request-Id': '' } }), { code: 107 });
    });

    test('the table of keys is seen by no caller', async () => {
      const table = '_IdempotencyKey';
      for (const as of ['master', 'apiKey'] as const) {
        assertRefused(await store.call('GET', path(table), { as }), { code: 119 });
        assertRefused(await store.post(table, {}, { as }), { code: 119 });
        assertRefused(await store.call('GET', `/platform/export/${table}`, { as }), { code: [103, 119] });
        assertRefused(
          await store.call('GET', `/platform/classes-aggregate/${table}`, { as, query: { group: { objectId: null } } }),
          { code: 119 },
        );
      }
      const { body } = await store.call('GET', '/platform/schemas');
      assert.ok(!body.results.some(({ className }: Json) => className === table));
      assertRefused(await store.call('GET', `/platform/schemas/${table}`), { code: 103 });
    });
  });
