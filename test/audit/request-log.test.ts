/** `_RequestLog`. Reference: audit.md#request-log, system-tables.md#_requestlog. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertRefused, type Json, master, path, pointer, unique } from '../support/records.ts';
import { engines, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { denied, password, signUp } from '../support/users.ts';
import { logOf, Marked } from './log.ts';

for (const engine of engines)
  describe(`request log (${engine})`, () => {
    let service: Service;
    const table = unique('T');
    before(async () => {
      service = await sharedService(engine);
      await service.call('POST', `/platform/schemas/${table}`, {
        body: {
          className: table,
          fields: { n: { type: 'Number' } },
          classLevelPermissions: { create: { requiresAuthentication: true }, get: { '*': true } },
        },
      });
    });

    test('a row records the documented fields of a write', async () => {
      const client = new Marked(service);
      const body = '{"n":1}';
      const before = Date.now();
      const { status } = await client.asMaster({
        path: `${path(table)}?x=1`,
        body,
        headers: { Referer: 'https://crm.example/cases?id=5', 'X-Platform-Installation-Id': 'device-1' },
      });
      assert.equal(status, 201);
      const { objectId, createdAt, updatedAt, duration, ...row } = await client.row();
      assert.match(objectId, /^\w{10}$/);
      assert.ok(Date.parse(createdAt) >= before && createdAt === updatedAt);
      assert.ok(Number.isInteger(duration) && duration >= 0 && duration < 5_000, String(duration));
      assert.deepEqual(row, {
        ACL: {},
        createdBy: master,
        updatedBy: master,
        path: path(table),
        method: 'POST',
        ip: '127.0.0.1',
        referer: 'https://crm.example/cases?id=5',
        userAgent: client.mark,
        user: master,
        usingMK: true,
        internal: false,
        trustedIP: true,
        statusCode: 201,
        contentLength: body.length,
        service: 'platform',
        retries: 0,
        installationId: 'device-1',
      });
    });

    test('POST, PUT and DELETE are logged, with the status of their answers; reads are not', async () => {
      const client = new Marked(service);
      const { body } = await client.asMaster({ path: path(table), body: { n: 1 } });
      const one = path(table, body.objectId);
      await client.asMaster({ method: 'GET', path: one });
      await client.asMaster({ method: 'GET', path: `${path(table)}?limit=1&count=1` });
      await client.asMaster({ method: 'GET', path: '/platform/schemas' });
      await client.asMaster({ path: path(table), body: { _method: 'GET', where: {} } });
      await client.asMaster({ method: 'PUT', path: one, body: { n: 2 } });
      await client.asMaster({ path: one, body: { _method: 'PUT', n: 3 } });
      await client.asMaster({ method: 'DELETE', path: one });
      await client.asMaster({ method: 'DELETE', path: one });
      await client.asMaster({ path: `/platform/schemas/${unique('S')}`, body: { fields: {} } });
      const rows = await client.rows();
      assert.deepEqual(
        rows.map((row: Json) => [row.method, row.path.replace(body.objectId, 'ID'), row.statusCode]).slice(0, -1),
        [
          ['POST', path(table), 201],
          ['PUT', path(table, 'ID'), 200],
          ['PUT', path(table, 'ID'), 200],
          ['DELETE', path(table, 'ID'), 200],
          ['DELETE', path(table, 'ID'), 404],
        ],
      );
      assert.equal(rows.length, 6);
    });

    test('a batch is one row, and so is a refused one', async () => {
      const client = new Marked(service);
      const requests = Array.from({ length: 5 }, (_, n) => ({ method: 'POST', path: path(table), body: { n } }));
      await client.asMaster({ path: '/platform/batch', body: { requests } });
      await client.asMaster({ path: '/platform/batch', body: { requests: 1 } });
      const rows = await client.rows();
      assert.deepEqual(
        rows.map(({ path: at, statusCode }: Json) => [at, statusCode]),
        [
          ['/platform/batch', 200],
          ['/platform/batch', 400],
        ],
      );
    });

    for (const [why, sent, status] of [
      ['no permission', { path: '/platform/classes/Closed' }, 400],
      ['a body that is no JSON', { path: path('Closed'), body: '{' }, 400],
      ['a path that there is not', { path: '/platform/nothing/at/all' }, 404],
      ['a method that the path has not', { method: 'PUT', path: '/platform/classes-aggregate/Closed' }, 404],
      ['a wrong method in the body', { path: path('Closed', 'x'), body: { _method: 'PATCH' } }, 400],
      ['a session that is not valid', { path: path('Closed'), headers: { 'X-Platform-Session-Token': 'r:0' } }, 400],
      ['a function that there is not', { path: '/platform/functions/f', body: {} }, 400],
      ['a body that is too large', { path: path('Closed'), body: 'x'.repeat(20 * 1024 * 1024 + 1) }, 413],
    ] as const)
      test(`refused requests are logged: ${why}`, async () => {
        const client = new Marked(service);
        const answer = await client.ask(sent);
        assert.equal(answer.status, status);
        const row = await client.row();
        assert.deepEqual([row.path, row.statusCode, row.user, row.usingMK], [sent.path, status, undefined, false]);
      });

    test('a request that names no system is in no log', async () => {
      const client = new Marked(service);
      for (const headers of [{ 'X-Platform-Application-Id': 'other' }, { 'X-Platform-Application-Id': '' }])
        assert.equal((await client.ask({ path: path(table), body: {}, headers })).status, 403);
      assert.deepEqual(await client.rows(), []);
    });

    test('an application id in the body names the system too', async () => {
      const client = new Marked(service);
      const body = { _ApplicationId: service.appId, _MasterKey: service.masterKey, _InstallationId: 'device-2', n: 1 };
      await client.ask({ path: path(table), body, headers: { 'X-Platform-Application-Id': '' } });
      const row = await client.row();
      assert.deepEqual([row.statusCode, row.usingMK, row.installationId], [201, true, 'device-2']);
    });

    for (const [who, headers, user, usingMK] of [
      ['the master key', (): Json => ({ 'X-Platform-Master-Key': service.masterKey }), master, true],
      ['an API key', (): Json => ({ 'X-Platform-API-Key': service.apiKey }), master, true],
      ['a wrong key', (): Json => ({ 'X-Platform-Master-Key': 'wrong' }), undefined, false],
      ['nobody', (): Json => ({}), undefined, false],
    ] as const)
      for (const body of ['{"n":1}', '{'])
        test(`user and usingMK: ${who}, body ${body}`, async () => {
          const client = new Marked(service);
          await client.ask({ path: path(table), body, headers: headers() });
          const row = await client.row();
          assert.deepEqual([row.user, row.usingMK], [user, usingMK]);
        });

    test("a session's writes are its user's, refused ones too; sign-up and login are logged, by GET (a read) it is not", async () => {
      const client = new Marked(service);
      const username = unique('user-');
      const { body: user } = await client.asMaster({ path: '/platform/users', body: { username, password } });
      await client.ask({ path: '/platform/login', body: { username, password } });
      await client.ask({ method: 'GET', path: `/platform/login?username=${username}&password=${password}` });
      await client.ask({ path: '/platform/login', body: { username, password: 'Wrong1Pass' } });
      const headers = { 'X-Platform-Session-Token': user.sessionToken };
      await client.ask({ path: path(table), body: { n: 1 }, headers });
      await client.ask({ path: path('Closed'), body: { n: 1 }, headers });
      const himself = pointer('_User', user.objectId);
      const rows = await client.rows();
      assert.deepEqual(
        rows.map((row: Json) => [row.method, row.path, row.statusCode, row.user, row.usingMK]),
        [
          ['POST', '/platform/users', 201, master, true],
          ['POST', '/platform/login', 200, undefined, false],
          ['POST', '/platform/login', 404, undefined, false],
          ['POST', path(table), 201, himself, false],
          ['POST', path('Closed'), 400, himself, false],
        ],
      );
    });

    test('`_RequestLog.user` blocks the deletion of a user who wrote, at once; a logout does not', async () => {
      const call = service.call;
      const quiet = await signUp({ call });
      assert.equal((await call('POST', '/platform/logout', { session: quiet.token })).status, 200);
      assert.equal((await call('DELETE', `/platform/users/${quiet.id}`)).status, 200);
      const writer = await signUp({ call });
      await call('POST', path('Closed'), { session: writer.token, body: {} });
      const refused = await call('DELETE', `/platform/users/${writer.id}`);
      const error = `Pointer to Object ${writer.id} exists in table _RequestLog in key user. Delete is not allowed.`;
      assertRefused(refused, { code: 119, error });
      const [row] = await logOf(service, { user: pointer('_User', writer.id) });
      assert.equal((await call('DELETE', path('_RequestLog', row.objectId))).status, 200);
      assert.equal((await call('DELETE', `/platform/users/${writer.id}`)).status, 200);
    });

    test('the log is for the master key alone: keys and users get 119 for whatever they ask', async () => {
      const admin = await signUp(service);
      const { body } = await service.call('GET', '/platform/roles', { query: { where: { name: 'Admin' } } });
      const users = { __op: 'AddRelation', objects: [pointer('_User', admin.id)] };
      const given = await service.call('PUT', `/platform/roles/${body.results[0].objectId}`, { body: { users } });
      assert.equal(given.status, 200, given.text);
      const [row] = await logOf(service);
      const one = path('_RequestLog', row.objectId);
      for (const options of [{ as: 'apiKey' }, { session: admin.token }] as const) {
        const refused = async (action: string, method: string, at: string, more: object = {}) =>
          assertRefused(await service.call(method, at, { ...options, ...more }), denied(action, '_RequestLog'));
        await refused('find', 'GET', path('_RequestLog'));
        await refused('get', 'GET', one);
        await refused('create', 'POST', path('_RequestLog'), { body: { path: '/' } });
        await refused('update', 'PUT', one, { body: { path: '/' } });
        await refused('delete', 'DELETE', one);
        await refused('find', 'GET', '/platform/classes-aggregate/_RequestLog', { query: { pipeline: [{ $count: 'n' }] } });
      }
      assert.equal((await service.call('GET', one)).status, 200);
      assert.equal((await service.call('PUT', one, { body: { service: 'mine' } })).status, 200);
      assert.equal((await service.call('DELETE', one)).status, 200);
    });
  });
