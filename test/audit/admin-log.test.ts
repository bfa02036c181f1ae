/** `_AdminLog`: a row for each act of administration, by whatever path. Reference: audit.md#log-of-administrators. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { keyHeaders, masterHeaders, useTool } from '../support/mcp.ts';
import { type Json, path, pointer, unique } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { login, otherPassword, password, signUp } from '../support/users.ts';
import { useUnusedSystem } from '../systems/cli.ts';
import { NewActs, told } from './acts.ts';

const REQUEST = 'request-of-the-test';

for (const engine of engines)
  describe(`log of administrators (${engine})`, () => {
    const store = useUnusedSystem(engine);
    let log: NewActs;
    /** Sends one request; returns what it answers. */
    type Send = (method: string, path: string, body?: object) => Promise<Json>;

    before(async () => {
      log = new NewActs(store);
    });

    const sendAs =
      (as: 'master' | 'apiKey'): Send =>
      async (method, address, body = {}) => {
        const answer = await store.call(method, address, { as, body, headers: { 'X-Request-Id': REQUEST } });
        assert.ok(answer.status < 300, `${method} ${address}: ${answer.text}`);
        return answer.body;
      };
    const batched =
      (more: object): Send =>
      async (method, address, body = {}) => {
        const [item] = await sendAs('master')('POST', '/platform/batch', {
          ...more,
          requests: [{ method, path: address, body }],
        });
        assert.ok(item.success, `${method} ${address}: ${JSON.stringify(item)}`);
        return item.success;
      };
    /** The doors through which records are administered, and who acts there. */
    const doors: [string, Send, who: string][] = [
      ['master key', sendAs('master'), 'master'],
      ['API key', sendAs('apiKey'), 'key:default'],
      ['batch', batched({}), 'master'],
      ['transaction', batched({ transaction: true }), 'master'],
    ];

    for (const [door, send, who] of doors)
      test(`users, roles, flags and triggers by ${door}: a row for each act, and none for other writes`, async () => {
        const [username, email, name, flag] = [unique('u-'), `${unique('u')}@example.com`, unique('r'), unique('Flag')];
        const secretFlag = unique('SmsApiKey');
        const table = await store.table({ Name: 'String' });
        await log.take();
        const takes = async (what: string, ...expected: Json[]) => {
          const rows = await log.take();
          assert.deepEqual(rows.map(told), expected, what);
          for (const row of rows) assert.deepEqual([row.who, row.requestId], [who, REQUEST], what);
        };
        const { objectId: user } = await send('POST', path('_User'), { username, email, password });
        await takes('made', ['users', user, null, { username, email }]);
        await send('PUT', path('_User', user), { email: `x${email}`, active: false, name: 'Dana' });
        await takes('changed', ['users', user, { email }, { email: `x${email}`, active: false }]);
        await send('PUT', path('_User', user), { name: 'Dan', active: false });
        await takes('nothing that counts');
        await send('PUT', path('_User', user), { password: otherPassword });
        await takes('password', ['users', user, {}, { passwordSet: true }]);
        const member = { __op: 'AddRelation', objects: [pointer('_User', user)] };
        const { objectId: role } = await send('POST', path('_Role'), { name, ACL: {}, users: member });
        await takes('role', ['roles', name, null, { name, users: { added: [user] } }]);
        await send('PUT', path('_Role', role), { users: { ...member, __op: 'RemoveRelation' } });
        await takes('member', ['roles', name, {}, { users: { removed: [user] } }]);
        await send('PUT', path('_Role', role), { roles: { __op: 'AddRelation', objects: [pointer('_Role', role)] } });
        await takes('parent', ['roles', name, {}, { roles: { added: [role] } }]);
        await send('PUT', path('_Role', role), { ACL: { '*': { read: true } } });
        await takes('nothing that counts');
        await send('DELETE', path('_Role', role));
        await takes('role deleted', ['roles', name, { name }, null]);
        const { objectId: config } = await send('POST', path('Config'), { Name: flag, Value: { [flag]: true } });
        await takes('flag', ['configuration', flag, null, { Name: flag, Value: { [flag]: true } }]);
        await send('PUT', path('Config', config), { Value: { [flag]: false } });
        await takes('flag', ['configuration', flag, { Value: { [flag]: true } }, { Value: { [flag]: false } }]);
        await send('PUT', path('Config', config), { Value: { [flag]: false } });
        await takes('the same value');
        const place = `Value.${flag}`;
        await send('PUT', path('Config', config), { [place]: true });
        await takes('a place in a flag', ['configuration', flag, { [place]: false }, { [place]: true }]);
        await send('PUT', path('Config', config), { [place]: true });
        await takes('the same value in a place');
        await send('PUT', path('Config', config), { 'Value.ApiKey': 'hunter4', [place]: false });
        await takes('a secret place', ['configuration', flag, { [place]: true }, { 'Value.ApiKey': '***', [place]: false }]);
        await send('PUT', path('Config', config), { 'Value.ApiKey': { __op: 'Delete' } });
        await takes('deleted place', ['configuration', flag, { 'Value.ApiKey': '***' }, { 'Value.ApiKey': null }]);
        const { objectId: renamed } = await send('POST', path('Config'), { Name: 'Plain', Value: {} });
        await send('PUT', path('Config', renamed), { Name: secretFlag, Value: { v: 'hunter5' } });
        const secret = { Name: secretFlag, Value: '***' };
        await takes(
          'a name that makes the value a secret',
          ['configuration', 'Plain', null, { Name: 'Plain', Value: {} }],
          ['configuration', 'Plain', { Name: 'Plain', Value: '***' }, secret],
        );
        const setName = { __op: 'SetOnInsert', amount: secretFlag };
        const { objectId: operated } = await send('POST', path('Config'), { Name: setName, Value: { v: 'hunter6' } });
        await takes('a name that an operator sets', ['configuration', secretFlag, null, { Name: setName, Value: '***' }]);
        await send('DELETE', path('Config', operated));
        await takes('deleted', ['configuration', secretFlag, secret, null]);
        await send('DELETE', path('Config', renamed));
        await takes('deleted', ['configuration', secretFlag, secret, null]);
        const { objectId: hidden } = await send('POST', path('Config'), { Name: secretFlag, Value: { [secretFlag]: 'hunter2' } });
        await takes('a secret', ['configuration', secretFlag, null, { Name: secretFlag, Value: '***' }]);
        await send('PUT', path('Config', hidden), { Value: { [secretFlag]: 'hunter3' } });
        await takes('a secret', ['configuration', secretFlag, { Value: '***' }, { Value: '***' }]);
        for (const id of [config, hidden]) await send('DELETE', path('Config', id));
        await takes(
          'deleted',
          ['configuration', flag, { Name: flag, Value: { [flag]: false } }, null],
          ['configuration', secretFlag, { Name: secretFlag, Value: '***' }, null],
        );
        const definition = { Name: 'hello', table, events: ['create'], actions: [] };
        const { objectId: trigger } = await send('POST', path('_Trigger'), definition);
        await takes('trigger', ['triggers', trigger, null, definition]);
        await send('PUT', path('_Trigger', trigger), { Name: 'hello', Active: false });
        await takes('trigger', ['triggers', trigger, { Active: true }, { Active: false }]);
        await send('DELETE', path('_Trigger', trigger));
        await takes('trigger', ['triggers', trigger, { ...definition, Active: false }, null]);
        await send('DELETE', path('_User', user));
        await takes('user deleted', ['users', user, { username, email: `x${email}`, active: false }, null]);
      });

    test('schema and permissions: tables, fields, indexes, renames, retypes, growth by a write', async () => {
      const table = unique('T');
      const address = `/platform/schemas/${table}`;
      const send = sendAs('apiKey');
      const text = { type: 'String' };
      await log.take();
      const takes = async (what: string, ...expected: Json[]) => assert.deepEqual((await log.take()).map(told), expected, what);
      await send('POST', address, { fields: { A: text } });
      await takes('made', ['schema', table, null, { fields: { A: text } }]);
      await send('PUT', address, { fields: { B: { type: 'Number' } }, indexes: { byB: { B: 1 } } });
      await takes('added', ['schema', table, {}, { fields: { B: { type: 'Number' } }, indexes: { byB: { B: 1 } } }]);
      await send('PUT', address, { fields: { A: { __op: 'Rename', to: 'C' } } });
      await takes('renamed', ['schema', table, { fields: { A: text } }, { fields: { C: text }, renamed: { A: 'C' } }]);
      await send('PUT', address, { fields: { B: { __op: 'Retype', type: 'String', onError: 'refuse' } } });
      await takes('retyped', ['schema', table, { fields: { B: { type: 'Number' } } }, { fields: { B: text } }]);
      await send('PUT', address, { fields: { B: { __op: 'Delete' } }, indexes: { byB: { __op: 'Delete' } } });
      await takes('dropped', ['schema', table, { fields: { B: text }, indexes: { byB: { B: 1 } } }, {}]);
      await send('PUT', address, { classLevelPermissions: { find: { requiresAuthentication: true } } });
      const [opened] = await log.take();
      assert.deepEqual(told(opened), ['permissions', table, opened.before, { find: { requiresAuthentication: true } }]);
      assert.equal(opened.who, 'key:default');
      await send('PUT', address, { classLevelPermissions: { find: { requiresAuthentication: true } } });
      await takes('the same permissions', ...[]);
      const { objectId } = await send('POST', path(table), { C: 'x', D: 1 });
      await takes('grown', ['schema', table, {}, { fields: { D: { type: 'Number' } } }]);
      await send('PUT', path(table, objectId), { C: 'y', D: 2 });
      await send('DELETE', path(table, objectId));
      await takes('ordinary writes');
      await send('DELETE', address);
      await takes('dropped', ['schema', table, { fields: { C: text, D: { type: 'Number' } } }, null]);
      const made = unique('T');
      await send('POST', path(made), { N: 1 });
      await takes('made by a write', ['schema', made, null, { fields: { N: { type: 'Number' } } }]);
    });

    test('who: a user whose write adds a field, and the user of a link', async () => {
      const table = await store.table({ A: 'Number' });
      const everybody = Object.fromEntries(
        ['create', 'addField'].map((action) => [action, { requiresAuthentication: true }] as const),
      );
      await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: everybody } });
      const user = await signUp(store);
      await log.take();
      const written = await store.call('POST', path(table), { session: user.token, body: { B: 1 } });
      assert.equal(written.status, 201, written.text);
      const [row, ...others] = await log.take();
      assert.deepEqual([row.act, row.subject, row.who, others], ['schema', table, user.id, []]);
      assert.match(row.requestId, /^[\w-]{6,64}$/);
      assert.equal((await login(store, { username: user.username, password })).status, 200);
      assert.deepEqual(await log.take(), [], 'a login is no act');
    });

    test('agent tools: who is the key', async () => {
      const user = await signUp(store);
      const name = unique('r');
      await store.create('_Role', { name, ACL: {} });
      const flag = unique('Flag');
      const className = unique('T');
      await log.take();
      const service = store.service();
      const [key, master] = [keyHeaders(service), masterHeaders(service)];
      await useTool(service, key, 'Set-Config-Flag', { name: flag, value: { [flag]: true } });
      await useTool(service, key, 'Set-User-Roles', { userId: user.id, roles: [name] });
      await useTool(service, master, 'Create-Table', { className, fields: [{ name: 'A', type: 'String' }] });
      const rows = await log.take();
      assert.deepEqual(
        rows.map(({ act, who, subject }) => [act, who, subject]),
        [
          ['configuration', 'key:default', flag],
          ['roles', 'key:default', name],
          ['schema', 'master', className],
          ['permissions', 'master', className],
        ],
      );
      assert.deepEqual(rows[1].after, { users: { added: [user.id] } });
    });

    test('writes by where: a row for each record; a refused transaction, batch item or write leaves none', async () => {
      const users = await Promise.all([signUp(store), signUp(store)]);
      const ids = users.map(({ id }) => id);
      const name = unique('r');
      await log.take();
      const where = { objectId: { $in: ids } };
      const blocked = await store.call('PUT', path('_User'), { query: { where }, body: { active: false } });
      assert.equal(blocked.body.updated, 2, blocked.text);
      const rows = await log.take();
      assert.deepEqual(rows.map(({ subject }) => subject).sort(), [...ids].sort());
      for (const row of rows) assert.deepEqual([row.act, row.after], ['users', { active: false }]);
      const role = { method: 'POST', path: path('_Role'), body: { name, ACL: {} } };
      const missing = { method: 'PUT', path: path('_Role', 'nobody0000'), body: { ACL: {} } };
      const refused = await store.call('POST', '/platform/batch', { body: { transaction: true, requests: [role, missing] } });
      assert.equal(refused.status, 404, refused.text);
      for (const [method, address, body] of [
        ['POST', path('_User'), { username: users[0]?.username, password }],
        ['PUT', path('_User', ids[0]), { email: 'no address' }],
        ['PUT', path('_Role', 'nobody0000'), { ACL: {} }],
        ['DELETE', path('Config', 'nobody0000'), {}],
        ['POST', '/platform/schemas/_User', { fields: {} }],
        ['PUT', '/platform/schemas/Accounts', { fields: { A: { type: 'Nonsense' } } }],
      ] as const)
        assert.ok((await store.call(method, address, { body })).status >= 400, `${method} ${address}`);
      assert.deepEqual(await log.take(), []);
      const both = { transaction: true, requests: [role, { ...role, body: { ...role.body, name: `${name}2` } }] };
      assert.equal((await store.call('POST', '/platform/batch', { body: both })).status, 200);
      assert.deepEqual(
        (await log.take()).map(({ subject }) => subject),
        [name, `${name}2`],
      );
    });

    test('several writes of one record in one transaction: each row says what changed by it', async () => {
      const user = await signUp(store);
      const put = (body: object) => ({ method: 'PUT', path: path('_User', user.id), body });
      await log.take();
      const requests = [put({ email: 'a@example.com' }), put({ email: 'b@example.com' }), put({ email: 'b@example.com' })];
      const answer = await store.call('POST', '/platform/batch', { body: { transaction: true, requests } });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(
        (await log.take()).map(({ before, after }) => [before, after]),
        [
          [{}, { email: 'a@example.com' }],
          [{ email: 'a@example.com' }, { email: 'b@example.com' }],
        ],
      );
    });

    test('and what changed inside a field', async () => {
      const flag = unique('Flag');
      const id = await store.create('Config', { Name: flag, Value: { [flag]: true } });
      const put = (body: object) => ({ method: 'PUT', path: path('Config', id), body });
      const place = `Value.${flag}`;
      await log.take();
      const requests = [put({ [place]: false, 'Value.a.b': 1 }), put({ Value: { [flag]: true } }), put({ 'Value.a.b': 2 })];
      const answer = await store.call('POST', '/platform/batch', { body: { transaction: true, requests } });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(
        (await log.take()).map(({ before, after }) => [before, after]),
        [
          [{ [place]: true }, { [place]: false, 'Value.a.b': 1 }],
          [{ Value: { [flag]: false, a: { b: 1 } } }, { Value: { [flag]: true } }],
          [{}, { 'Value.a.b': 2 }],
        ],
      );
    });

    test('who: no user can have the name of another actor', async () => {
      for (const objectId of ['cli', 'key:default', 'master']) {
        const user = { objectId, username: unique('u-'), password };
        for (const as of ['master', 'apiKey'] as const) {
          const { status, body } = await store.call('POST', path('_User'), { as, body: user });
          assert.deepEqual([status, body.code], [400, 137], objectId);
        }
      }
    });

    test('values are cut, and say so', async () => {
      const flag = unique('Flag');
      const id = await store.create('Config', { Name: flag, Value: { long: 'x'.repeat(100_000), [flag]: 'y'.repeat(50_000) } });
      await log.take();
      assert.equal((await store.remove('Config', id)).status, 200);
      const [{ before }] = await log.take();
      assert.ok(JSON.stringify(before).length < 20_000);
      assert.match(JSON.stringify(before), /… \(cut\)/);
    });

    test('no row has a password, a hash, a token or a key', async () => {
      const text = JSON.stringify(await new NewActs(store).take());
      for (const secret of [password, otherPassword, 'hunter']) assert.ok(!text.includes(secret), secret);
      assert.doesNotMatch(text, /\$2[aby]\$|r:[0-9a-f]{32}|[Pp]assword(?!Set)/);
    });
  });
