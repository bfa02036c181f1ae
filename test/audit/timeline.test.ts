/** Reference: audit.md#timeline, system-tables.md#_timeline, records.md#silencing-flags, schemas.md#timeline-settings. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertRefused, date, master, path, pointer, unique, useStore } from '../support/records.ts';
import { type CallOptions, engines } from '../support/service.ts';
import { signUp, type User, userPointer } from '../support/users.ts';
import { countRows, on, rowOf, rowsOf, timelineOf, tracked } from './rows.ts';

/** Fields of every row; the others are asserted on. */
const common = ['ACL', 'createdAt', 'createdBy', 'objectId', 'updatedAt', 'updatedBy'];

for (const engine of engines)
  describe(`timeline (${engine})`, () => {
    const store = useStore(engine);
    let user: User;
    let table: string;
    before(async () => {
      user = await signUp(store);
      table = await tracked(store, { Name: { type: 'String' }, n: { type: 'Number' }, list: { type: 'Array' } });
    });
    const page = 'https://crm.example/accounts/5?tab=notes#top';
    const asUser = (): CallOptions => ({ session: user.token, headers: { Referer: page } });

    test('_Timeline fields: a create leaves event, objectClass, objectIdValue, data, user, Last; createdBy, updatedBy master', async () => {
      const started = Date.now();
      const id = await store.create(table, { Name: 'a', n: 1 });
      const row = await rowOf(store, { objectIdValue: id });
      const { objectId, createdAt, updatedAt, ...rest } = row;
      assert.match(objectId, /^[A-Za-z0-9]{10}$/);
      assert.equal(createdAt, (await store.read(table, id)).createdAt);
      assert.ok(createdAt === updatedAt && Date.parse(createdAt) >= started);
      assert.deepEqual(rest, {
        ACL: {},
        createdBy: master,
        updatedBy: master,
        event: 'create',
        objectClass: table,
        objectIdValue: id,
        data: { Name: 'a', n: 1 },
        user: master,
        Last: true,
      });
    });

    test('_Timeline fields: an update leaves only the fields sent, operators as they were sent', async () => {
      const id = await store.create(table, { Name: 'a', n: 1 });
      const bodies = [
        { n: { __op: 'Increment', amount: 2 } },
        { list: { __op: 'AddUnique', objects: ['x', date('2024-01-02T00:00:00.000Z')] }, Name: { __op: 'Delete' } },
        { Name: null },
        {},
      ];
      for (const body of bodies) await store.update(table, id, body);
      const [, ...rows] = await rowsOf(store, table, id);
      assert.deepEqual(
        rows.map(({ event, data }) => [event, data]),
        bodies.map((body) => ['update', body]),
      );
    });

    test('_Timeline fields: a delete row carries only event, objectClass, objectIdValue, user and timestamps', async () => {
      const id = await store.create(table, { Name: 'a' });
      assert.equal((await store.remove(table, id, asUser())).status, 200);
      const [, row] = await rowsOf(store, table, id);
      assert.deepEqual(Object.keys(row).sort(), [...common, 'event', 'objectClass', 'objectIdValue', 'user'].sort());
      assert.deepEqual([row.event, row.user], ['delete', userPointer(user)]);
      assert.equal((await rowsOf(store, table, id)).length, 2);
    });

    test('_Timeline fields: user is the master dummy user for keys, and Referer is null', async () => {
      for (const as of ['master', 'apiKey'] as const) {
        const options: CallOptions = { as, headers: { Referer: page } };
        const forged: CallOptions = { as, headers: { Referer: 'server-side-code:getlead' } };
        const id = await store.create(table, { n: 1 }, options);
        assert.equal((await store.put(table, id, { n: 2 }, options)).status, 200);
        assert.equal((await store.put(table, id, { n: 3 }, forged)).status, 200);
        for (const row of await rowsOf(store, table, id)) {
          assert.deepEqual(row.user, master);
          assert.ok(!('Referer' in row), row.Referer);
        }
      }
    });

    test("_Timeline fields: user is the session user's, Referer the full page URL; the author of the row is master", async () => {
      const id = await store.create(table, { n: 1 }, asUser());
      assert.equal((await store.put(table, id, { n: 2 }, asUser())).status, 200);
      for (const row of await rowsOf(store, table, id))
        assert.deepEqual(
          [row.user, row.Referer, row.createdBy, row.updatedBy],
          [userPointer(user), page, master, master],
          JSON.stringify(row),
        );
      const forged = { session: user.token, headers: { Referer: 'server-side-code:getlead' } };
      const claimed = await store.create(table, { n: 1 }, forged);
      assert.ok(!('Referer' in (await rowOf(store, { objectIdValue: claimed }))), 'what tells of functions is for them alone');
      const plain = await store.create(table, { n: 1 }, { session: user.token });
      assert.ok(!('Referer' in (await rowOf(store, { objectIdValue: plain }))));
    });

    test('a Referer keeps no session token and no password', async () => {
      const headers = { Referer: `https://name:word@crm.example/p?sessionToken=${user.token}&id=5` };
      const id = await store.create(table, { n: 1 }, { session: user.token, headers });
      const row = await rowOf(store, { objectIdValue: id });
      assert.equal(row.Referer, 'https://crm.example/p?sessionToken=***&id=5');
    });

    test('Trigger-silencing flags: dontUpdatePlatformTimeline under a key leaves no row; it is consumed', async () => {
      for (const as of ['master', 'apiKey'] as const) {
        const id = await store.create(table, { n: 1, dontUpdatePlatformTimeline: true }, { as });
        assert.equal((await store.put(table, id, { n: 2, dontUpdatePlatformTimeline: true }, { as })).status, 200);
        assert.ok(!('dontUpdatePlatformTimeline' in (await store.read(table, id))));
        const gone = await store.remove(table, id, { as, body: { dontUpdatePlatformTimeline: true } });
        assert.equal(gone.status, 200);
        assert.deepEqual(await rowsOf(store, table, id), []);
      }
      assert.ok(!('dontUpdatePlatformTimeline' in (await store.fields(table))));
    });

    test('Trigger-silencing flags: a session user silences nothing; the flags are in no data', async () => {
      const body = { n: 1, dontUpdatePlatformTimeline: true, dontRunPlatformTriggers: true };
      const id = await store.create(table, body, asUser());
      assert.deepEqual((await rowOf(store, { objectIdValue: id })).data, { n: 1 });
    });

    test('Trigger-silencing flags: other flags leave the row, and a flag that is not true', async () => {
      const id = await store.create(table, { n: 1, dontRunPlatformTriggers: true, dontUpdatePlatformTimeline: false });
      assert.deepEqual((await rowOf(store, { objectIdValue: id })).data, { n: 1 });
    });

    test('Batch: one row for each item that succeeds, none for one that fails; a flag counts for its item', async () => {
      const id = await store.create(table, { n: 0 });
      const before = await countRows(store);
      const requests = [
        { method: 'POST', path: path(table), body: { n: 1 } },
        { method: 'PUT', path: path(table, id), body: { n: 2 } },
        { method: 'PUT', path: path(table, id), body: { n: 'text' } },
        { method: 'PUT', path: path(table, 'nowhere'), body: { n: 2 } },
        { method: 'POST', path: path(table), body: { n: 3, dontUpdatePlatformTimeline: true } },
        { method: 'POST', path: path(table), body: { n: 4, objectId: id } },
        { method: 'DELETE', path: path(table, 'nowhere') },
        { method: 'DELETE', path: path(table, id) },
      ];
      const { body } = await store.call('POST', '/platform/batch', { body: { requests } });
      const failed = body.map((item: object) => 'error' in item);
      assert.deepEqual(failed, [false, false, true, true, false, true, true, false], JSON.stringify(body));
      const rows = await rowsOf(store, table, id);
      assert.deepEqual(
        rows.map(({ event }) => event),
        ['create', 'update', 'delete'],
      );
      assert.equal(await countRows(store), before + 3);
    });

    test('a write that fails leaves no row', async () => {
      const other = await tracked(store, { p: { type: 'Pointer', targetClass: table } });
      const id = await store.create(table, { n: 1 });
      await store.create(other, { p: pointer(table, id) });
      const before = await countRows(store);
      assertRefused(await store.post(table, { n: 'text' }), { code: 111 });
      assertRefused(await store.post(table, { objectId: id }), { code: 137 });
      assertRefused(await store.put(table, 'nowhere', { n: 1 }), { code: 101 });
      assertRefused(await store.put(table, 'nowhere', { list: { __op: 'AddUnique', objects: [1] } }), { code: 101 });
      assertRefused(await store.put(table, id, { Name: { __op: 'Increment', amount: 1 } }), { code: 111 });
      assertRefused(await store.remove(table, 'nowhere'), { code: 101 });
      assertRefused(await store.remove(table, id), { code: 119 });
      assertRefused(await store.post(table, { n: 1 }, { as: 'anonymous' }), { code: 119 });
      assert.equal(await countRows(store), before);
    });

    test('Schema record: a table without the timeline leaves no rows; switched on and off it does as it says', async () => {
      const plain = await tracked(store, { n: { type: 'Number' } }, null);
      const set = (timeline: unknown) => store.call('PUT', `/platform/schemas/${plain}`, { body: { timeline } });
      const id = await store.create(plain, { n: 1 });
      await store.update(plain, id, { n: 2 });
      assert.equal((await set(on)).status, 200);
      await store.update(plain, id, { n: 3 });
      assert.equal((await set(null)).status, 200);
      await store.update(plain, id, { n: 4 });
      await store.remove(plain, id);
      assert.deepEqual(
        (await rowsOf(store, plain, id)).map(({ event, data }) => [event, data]),
        [['update', { n: 3 }]],
      );
    });

    test('Schema record: 11 tables have it in a new system', async () => {
      const { body } = await store.call('GET', '/platform/schemas');
      const names = body.results.filter((one: object) => 'timeline' in one).map((one: { className: string }) => one.className);
      for (const name of ['Accounts', 'Contacts', 'Sales', 'PriceQuotes', 'Cases', 'Tasks', 'Activities', 'Notes'])
        assert.ok(names.includes(name), name);
      const id = await store.create('Accounts', { Name: 'a', PhoneNumber: '0501234567' });
      // Internal fields of the service are not part of it.
      assert.deepEqual((await rowOf(store, { objectIdValue: id })).data, { Name: 'a', PhoneNumber: '0501234567' });
    });

    test('no secret is in the data: password, and what the service notes for itself', async () => {
      await store.call('PUT', '/platform/schemas/_User', { body: { timeline: on } });
      const one = await signUp(store, { phone: '03-1234567' });
      const body = { password: 'Other5Pass', job: 'clerk' };
      assert.equal((await store.call('PUT', `/platform/users/${one.id}`, { body })).status, 200);
      await store.call('PUT', '/platform/schemas/_User', { body: { timeline: null } });
      const rows = await rowsOf(store, '_User', one.id);
      assert.deepEqual(
        rows.map(({ event, data }) => [event, data]),
        [
          ['create', { username: one.username, phone: '03-1234567' }],
          ['update', { job: 'clerk' }],
        ],
      );
    });

    test('_Timeline is writable: POST 201, PUT and DELETE with master key or API key; it has no rows of its own', async () => {
      await store.call('PUT', '/platform/schemas/_Timeline', { body: { timeline: on } });
      for (const as of ['master', 'apiKey'] as const) {
        const mark = unique('event-');
        const id = await store.create('_Timeline', { event: mark, objectClass: 'X', data: { a: 1 } }, { as });
        assert.equal((await store.put('_Timeline', id, { Last: true }, { as })).status, 200);
        assert.equal((await store.remove('_Timeline', id, { as })).status, 200);
        assert.deepEqual(await timelineOf(store, { objectIdValue: id }), []);
      }
      await store.call('PUT', '/platform/schemas/_Timeline', { body: { timeline: null } });
      assertRefused(await store.post('_Timeline', { event: 'x' }, asUser()), { code: 119 });
    });

    test('it can be searched: by record newest first, by data, by event and table', async () => {
      const id = await store.create(table, { Name: 'findme' });
      await store.update(table, id, { n: 7 });
      const query = { where: { objectIdValue: id }, order: '-createdAt', limit: 1 };
      const { body } = await store.call('GET', '/platform/classes/_Timeline', { query });
      assert.deepEqual(body.results[0].data, { n: 7 });
      assert.equal((await timelineOf(store, { objectClass: table, event: 'create', 'data.Name': 'findme' })).length, 1);
    });
  });
