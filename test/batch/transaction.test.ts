/** A batch that is one commit: all items or none. Reference: batch.md#transactions. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rowsOf } from '../audit/rows.ts';
import { date, type Json, path, pointer, unique, useStore } from '../support/records.ts';
import { type CallOptions, engines } from '../support/service.ts';
import { newName, password, signUp, tokenForm } from '../support/users.ts';

interface Item {
  method: string;
  path: string;
  body?: unknown;
  ifMatch?: unknown;
  ifNoneMatch?: unknown;
}

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);
    const post = (table: string, body: object, more: object = {}): Item => ({ method: 'POST', path: path(table), body, ...more });
    const put = (table: string, id: string, body: object, more: object = {}): Item => ({
      method: 'PUT',
      path: path(table, id),
      body,
      ...more,
    });
    const remove = (table: string, id: string, more: object = {}): Item => ({ method: 'DELETE', path: path(table, id), ...more });
    const send = (requests: readonly Item[], options: CallOptions = {}) =>
      store.call('POST', '/platform/batch', { body: { transaction: true, requests }, ...options });
    const done = async (requests: readonly Item[], options: CallOptions = {}): Promise<Json[]> => {
      const answer = await send(requests, options);
      assert.equal(answer.status, 200, answer.text);
      return answer.body.map(({ success }: Json) => success);
    };

    test('all items are done: the answer has the form of a batch', async () => {
      const table = await store.table({ A: 'Number', L: 'Array' });
      const [kept, gone] = [await store.create(table, { A: 1 }), await store.create(table, {})];
      const [made, changed, removed] = await done([
        post(table, { A: 5 }),
        put(table, kept, { A: { __op: 'Increment', amount: 2 }, L: { __op: 'Add', objects: ['x'] } }),
        remove(table, gone),
      ]);
      assert.deepEqual(Object.keys(made).sort(), ['createdAt', 'objectId']);
      assert.deepEqual(changed, { updatedAt: changed.updatedAt, objectId: kept, A: 3, L: ['x'] });
      assert.deepEqual(removed, {});
      const rows = await store.all(table);
      assert.deepEqual(rows.map(({ objectId }) => objectId).sort(), [kept, made.objectId].sort());
      assert.equal(rows.find(({ objectId }) => objectId === kept).updatedAt, changed.updatedAt);
      assert.deepEqual(await done([]), []);
      const { body } = await store.call('POST', '/platform/batch', {
        body: { transaction: false, requests: [put(table, 'nobody0000', {}), put(table, kept, { A: 9 })] },
      });
      assert.deepEqual([body[0].error.code, body[1].success.objectId], [101, kept]);
    });

    const missing = 'nobody0000';
    /** Items that fail, with status, code and text of the answer. */
    const failing: [string, (table: string, id: string) => Item | Promise<Item>, number, number | undefined, RegExp][] = [
      ['a record that does not exist', (table) => put(table, missing, { A: 1 }), 404, 101, /Object not found/],
      ['its deletion', (table) => remove(table, missing), 404, 101, /Object not found/],
      ['a table that does not exist', () => put(unique('None'), missing, {}), 404, 101, /Object not found/],
      ['a wrong type', (table) => post(table, { A: 'x' }), 400, 111, /schema mismatch/],
      ['a wrong type of an update', (table, id) => put(table, id, { A: 'x' }), 400, 111, /schema mismatch/],
      ['an unknown operator', (table, id) => put(table, id, { A: { __op: 'Nope' } }), 400, 108, /Nope/],
      [
        'an operator on stored values',
        (table, id) => put(table, id, { 'O.n.m': { __op: 'Increment', amount: 1 } }),
        400,
        111,
        /schema/,
      ],
      ['an objectId that is taken', (table, id) => post(table, { objectId: id }), 400, 137, /duplicate/i],
      [
        'a record that others point at',
        async (table) => {
          const id = await store.create(table, {});
          await store.create(table, { P: pointer(table, id) });
          return remove(table, id);
        },
        400,
        119,
        /Pointer to Object/,
      ],
      [
        'an unknown file',
        (table) => post(table, { F: { __type: 'File', name: 'nofile_x.png', url: 'http://x/nofile_x.png' } }),
        400,
        1,
        /^$/,
      ],
      ['an outdated version', (table, id) => put(table, id, {}, { ifMatch: '"1"' }), 412, 409, /has changed meanwhile/],
      [
        'an outdated version of a deletion',
        (table, id) => remove(table, id, { ifMatch: 'W/"1"' }),
        412,
        409,
        /changed meanwhile/,
      ],
      [
        'a record that should be new',
        (table, id) => post(table, { objectId: id }, { ifNoneMatch: '*' }),
        412,
        409,
        /exists already/,
      ],
      [
        'a record beyond its size',
        async (table) => {
          const large = await store.create(table, { S: 'x'.repeat(12_000_000) });
          return put(table, large, { S2: 'x'.repeat(10_000_000) });
        },
        413,
        116,
        /too large/,
      ],
      ['a body that is no object', (table) => post(table, [] as object), 400, 107, /object/],
      ['no body', (table) => ({ method: 'POST', path: path(table) }), 400, undefined, /Cannot convert/],
      ['a read', (table, id) => ({ method: 'GET', path: path(table, id) }), 400, undefined, /Cannot convert/],
      [
        'a name that is taken',
        async () => post('_User', { username: (await signUp(store)).username, password }),
        400,
        202,
        /username/,
      ],
      ['a weak password', () => post('_User', { username: newName(), password: 'x' }), 400, 142, /Password Policy/],
      ['a malformed role', () => post('_Role', { name: 'a:b' }), 400, 139, /role name/],
      [
        'a role that is taken',
        async () => {
          const name = unique('R');
          await store.create('_Role', { name, ACL: {} });
          return post('_Role', { name, ACL: {} });
        },
        400,
        137,
        /duplicate/i,
      ],
    ];
    for (const [what, item, status, code, error] of failing)
      test(`${what}: the error with its index, and nothing of the transaction is written`, async () => {
        const table = await store.table({
          A: 'Number',
          O: 'Object',
          F: 'File',
          S: 'String',
          S2: 'String',
          P: { type: 'Pointer', targetClass: 'Tasks' },
        });
        const own = await store.table({ A: 'Number', O: 'Object', F: 'File', S: 'String', S2: 'String' });
        await store.call('PUT', `/platform/schemas/${own}`, { body: { fields: { P: { type: 'Pointer', targetClass: own } } } });
        const id = await store.create(own, { A: 1, O: { n: 'text' } });
        const bad = await item(own, id);
        const before = [await store.snapshot(own), await store.snapshot(table)];
        const good = [post(own, { A: 7, New: 1 }), put(own, id, { A: 2 }), post(table, { A: 1 })];
        for (const index of [0, 2, 3]) {
          const answer = await send([...good.slice(0, index), bad, ...good.slice(index)]);
          assert.equal(answer.status, status, `${index}: ${answer.text.slice(0, 300)}`);
          assert.deepEqual([answer.body.code, answer.body.index], [code, index], answer.text.slice(0, 300));
          assert.match(answer.body.error ?? '', error);
        }
        assert.deepEqual([await store.snapshot(own), await store.snapshot(table)], before);
      });

    test('of several items that fail the first one is named, whatever finds it', async () => {
      const table = await store.table({ A: 'Number' });
      const id = await store.create(table, {});
      const [late, early] = [put(table, missing, {}), post(table, { A: 'x' })];
      for (const [items, code, index] of [
        [[late, early], 101, 0],
        [[early, late], 111, 0],
        [[post(table, {}), late, early], 101, 1],
        [[post(table, {}), post('_User', { username: '' }), late], 200, 1],
        [[post(table, {}), late, post('_User', { username: '' })], 101, 1],
        [[post(table, { objectId: id }), late], 137, 0],
      ] as const) {
        const answer = await send(items);
        assert.deepEqual([answer.body.code, answer.body.index], [code, index], answer.text);
      }
    });

    test('two items on one record: in their order, each with a version of its own', async () => {
      const table = await store.table({ A: 'Number', L: 'Array', O: 'Object' });
      const objectId = unique('own');
      const add = (...objects: unknown[]) => ({ L: { __op: 'Add', objects } });
      const [, first, second, third] = await done([
        post(table, { objectId, A: 1, L: ['a'] }),
        put(table, objectId, { A: { __op: 'Increment', amount: 1 }, ...add('b') }),
        put(table, objectId, { A: { __op: 'Increment', amount: 10 }, L: ['c'] }),
        put(table, objectId, { ...add('d'), 'O.x': 1 }),
        put(table, objectId, { 'O.y': 2 }),
      ]);
      assert.deepEqual([first.A, second.A, first.L, third.L], [2, 12, ['a', 'b'], ['c', 'd']]);
      assert.equal(new Set([first.updatedAt, second.updatedAt, third.updatedAt]).size, 3);
      const { A, L, O } = await store.read(table, objectId);
      assert.deepEqual([A, L, O], [12, ['c', 'd'], { x: 1, y: 2 }]);
      await done([remove(table, objectId), post(table, { objectId, A: 5 }), put(table, objectId, { L: [1] })]);
      const made = await store.read(table, objectId);
      assert.deepEqual([made.A, made.L, made.O], [5, [1], undefined]);
      const answer = await send([remove(table, objectId), put(table, objectId, { A: 1 })]);
      assert.deepEqual([answer.status, answer.body.index], [404, 1]);
      assert.equal((await store.read(table, objectId)).A, 5);
    });

    test('a later item points at an earlier one, uses its fields and table', async () => {
      const [table, id] = [unique('T'), unique('own')];
      await done([
        post(table, { objectId: id, When: date('2026-01-01T00:00:00.000Z') }),
        post(table, { To: pointer(table, id), When: date('2026-01-02T00:00:00.000Z') }),
      ]);
      assert.equal((await store.all(table)).length, 2);
      const other = unique('T');
      const answer = await send([post(other, { A: 1 }), post(other, { A: 'x' })]);
      assert.deepEqual([answer.body.code, answer.body.index], [111, 1]);
      assert.equal(await store.fields(other), undefined);
    });

    test('a version: with quotes as the header has it, or without', async () => {
      const table = await store.table({ A: 'Number' });
      const id = await store.create(table, {});
      const tag = async () => (await store.get(table, id)).headers.get('etag') ?? '';
      await done([post(table, {}), put(table, id, { A: 1 }, { ifMatch: await tag() })]);
      await done([put(table, id, { A: 2 }, { ifMatch: (await tag()).slice(1, -1) }), remove(table, id, { ifMatch: '*' })]);
      const single = await store.call('POST', '/platform/batch', {
        body: { requests: [post(table, {}), put(table, missing, {}, { ifMatch: '"1"' })] },
      });
      assert.deepEqual([single.status, single.body[1].error.code], [200, 101]);
      const kept = await store.create(table, {});
      const stale = await store.call('POST', '/platform/batch', {
        body: { requests: [put(table, kept, { A: 1 }, { ifMatch: '"1"' }), put(table, kept, { A: 2 })] },
      });
      assert.deepEqual([stale.body[0].error.code, stale.body[1].success.objectId], [409, kept]);
      assert.equal(typeof stale.body[0].error.updatedAt, 'string');
    });

    test('sign-up in a transaction answers a session token, as outside; its rules hold', async () => {
      const username = newName();
      const id = unique('own');
      const [user] = await done([
        post('_User', { username, password, objectId: id }),
        post('Tasks', { Name: 'x', OwnerId: pointer('_User', id) }),
      ]);
      assert.match(user.sessionToken, tokenForm);
      const me = await store.call('GET', '/platform/users/me', { session: user.sessionToken });
      assert.equal(me.body.objectId, id);
      const name = newName();
      const twice = await send([
        post('_User', { username: name, password }),
        post('_User', { username: name.toUpperCase(), password }),
      ]);
      assert.deepEqual([twice.body.code, twice.body.index], [202, 1]);
      const blocked = await done([post('_User', { username: newName(), password, active: false })]);
      assert.equal(blocked[0].sessionToken, undefined);
      const roleId = unique('own');
      const role = await send([
        post('_Role', { objectId: roleId, name: unique('R'), ACL: {} }),
        put('_Role', roleId, { name: 'a:b' }),
      ]);
      assert.deepEqual([role.body.code, role.body.index], [136, 1]);
    });

    test('the rights are those of the caller, for each item', async () => {
      const user = await signUp(store);
      const table = await store.table({ A: 'Number' });
      await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: { create: { '*': true } } } });
      const as = { session: user.token };
      assert.equal((await done([post(table, { A: 1 })], as)).length, 1);
      const id = await store.create(table, {});
      const answer = await send([post(table, { A: 1 }), put(table, id, { A: 2 })], as);
      assert.deepEqual([answer.status, answer.body.code, answer.body.index], [400, 119, 1]);
      const anonymous = await send([post(table, { A: 1 })], { as: 'anonymous' });
      assert.deepEqual([anonymous.status, anonymous.body.code, anonymous.body.index], [400, 119, 0]);
      assert.equal((await store.all(table)).length, 2);
    });

    for (const [what, items] of [
      ['a login', [{ method: 'POST', path: '/platform/login', body: {} }]],
      ['a logout', [{ method: 'POST', path: '/platform/logout', body: {} }]],
      ['a password reset', [{ method: 'POST', path: '/platform/requestPasswordReset', body: {} }]],
      ['a new session', [{ method: 'POST', path: '/platform/sessions', body: {} }]],
      ['a new session by its table', [{ method: 'POST', path: '/platform/classes/_Session', body: {} }]],
      ['a schema', [{ method: 'POST', path: '/platform/schemas/Made', body: {} }]],
      ['a function', [{ method: 'POST', path: '/platform/functions/x', body: {} }]],
      ['a batch', [{ method: 'POST', path: '/platform/batch', body: { requests: [] } }]],
      ['1,001 items', Array.from({ length: 1_000 }, () => ({ method: 'DELETE', path: '/platform/classes/Tasks/x' }))],
    ] as [string, Item[]][])
      test(`${what}: 107 before anything`, async () => {
        const table = await store.table({ A: 'Number' });
        const answer = await send([post(table, { A: 1 }), ...items]);
        assert.deepEqual([answer.status, answer.body.code], [400, 107], answer.text);
        assert.deepEqual(await store.all(table), []);
      });

    for (const transaction of [1, 0, 'true', null, {}, []])
      test(`transaction: ${JSON.stringify(transaction)}: 107 before anything`, async () => {
        const table = await store.table({ A: 'Number' });
        const answer = await store.call('POST', '/platform/batch', { body: { transaction, requests: [post(table, {})] } });
        assert.deepEqual(answer.body, { code: 107, error: 'Invalid transaction: transaction should be true or false' });
        assert.deepEqual(await store.all(table), []);
      });

    test('ifMatch that is no text: 107 before anything', async () => {
      const table = await store.table({ A: 'Number' });
      const answer = await send([post(table, {}), put(table, missing, {}, { ifMatch: 5 })]);
      assert.deepEqual(answer.body, { code: 107, error: 'Invalid batch item: ifMatch should be an ETag' });
    });

    test('ifMatch and ifNoneMatch have at most 1,000 characters: else 107 before anything', async () => {
      const table = await store.table({ A: 'Number' });
      const id = await store.create(table, {});
      for (const name of ['ifMatch', 'ifNoneMatch']) {
        const tags = (length: number) => `${'"a",'.repeat(200)}${' '.repeat(length - 803)}"b"`;
        assert.equal(tags(1_000).length, 1_000);
        assert.equal((await send([put(table, id, {}, { [name]: tags(1_000) })])).body.code, name === 'ifMatch' ? 409 : undefined);
        const answer = await send([post(table, {}), put(table, id, {}, { [name]: tags(1_001) })]);
        assert.deepEqual(answer.body, { code: 107, error: `Invalid batch item: ${name} should have at most 1000 characters` });
        assert.equal((await store.all(table)).length, 1);
      }
    });

    test('the timeline: a row for each item, in their order, and none of a transaction that fails', async () => {
      const objectId = unique('own');
      await done([
        post('Tasks', { objectId, Name: 'a' }),
        put('Tasks', objectId, { Name: 'b' }),
        put('Tasks', objectId, { Name: 'c' }),
      ]);
      const rows = await rowsOf(store, 'Tasks', objectId);
      assert.deepEqual(
        rows.map(({ event, Last }) => [event, Last]),
        [
          ['create', false],
          ['update', false],
          ['update', true],
        ],
      );
      assert.equal((await send([put('Tasks', objectId, { Name: 'd' }), remove('Tasks', missing)])).status, 404);
      assert.equal((await rowsOf(store, 'Tasks', objectId)).length, 3);
    });

    test('1,000 items are one transaction, and the last one takes all back', async () => {
      const table = await store.table({ A: 'Number' });
      const items = Array.from({ length: 999 }, (_, n) => post(table, { A: n }));
      const answer = await send([...items, put(table, missing, {})]);
      assert.deepEqual([answer.status, answer.body.index], [404, 999]);
      assert.deepEqual(await store.all(table), []);
      assert.equal((await done([...items, post(table, { A: 999 })])).length, 1_000);
      assert.deepEqual(
        (await store.all(table)).map(({ A }) => A),
        Array.from({ length: 1_000 }, (_, n) => n),
      );
    });

    test('transactions and single writes of the same records at once: each is whole', async () => {
      const table = await store.table({ A: 'Number' });
      const ids = await Promise.all(Array.from({ length: 6 }, () => store.create(table, { A: 0 })));
      const up = { A: { __op: 'Increment', amount: 1 } };
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, n) => {
          const order = n % 2 ? ids : ids.toReversed();
          return n % 4 === 3
            ? send([...order.map((id) => put(table, id, up)), put(table, missing, {})])
            : send(order.map((id) => put(table, id, up)));
        }),
      );
      assert.deepEqual(
        answers.map(({ status }) => status),
        answers.map((_, n) => (n % 4 === 3 ? 404 : 200)),
      );
      assert.deepEqual(
        (await store.all(table)).map(({ A }) => A),
        ids.map(() => 30),
      );
    });
  });
