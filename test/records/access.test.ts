import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, path, send, unique, useStore } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';

const captcha = { status: 400, code: 119, error: 'This action is not allowed without a valid CAPTCHA' };
const as = 'anonymous';

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);

    const permit = async (table: string, classLevelPermissions: object) => {
      const answer = await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions } });
      assert.equal(answer.status, 200, answer.text);
    };

    test('Authentication: anonymous POST, PUT and DELETE meet the CAPTCHA text', async () => {
      const table = await store.table({ Name: 'String' });
      const id = await store.create(table, { Name: 'a' });
      const before = await store.snapshot(table);
      assertRefused(await store.post(table, { Name: 'b' }, { as }), captcha);
      assertRefused(await store.put(table, id, { Name: 'b' }, { as }), captcha);
      assertRefused(await store.remove(table, id, { as }), captcha);
      assert.equal(await store.snapshot(table), before);
    });

    test('Authentication: even if the CLP is opened to everyone (the CAPTCHA gate is checked before permissions)', async () => {
      const table = await store.table({ Name: 'String' });
      const id = await store.create(table, { Name: 'a' });
      const everyone = { '*': true };
      await permit(table, {
        create: everyone,
        update: everyone,
        delete: everyone,
        addField: everyone,
        find: everyone,
        get: everyone,
      });
      const before = await store.snapshot(table);
      assertRefused(await store.post(table, { Name: 'b', Fresh: 1 }, { as }), captcha);
      assertRefused(await store.put(table, id, { Name: 'b' }, { as }), captcha);
      assertRefused(await store.remove(table, id, { as }), captcha);
      assert.equal(await store.snapshot(table), before);
    });

    test('Authentication: the CAPTCHA comes before anything else: names, ids, types, operators, existence', async () => {
      const table = await store.table({ N: 'Number' });
      for (const answer of [
        await store.post('bad-name', {}, { as }),
        await store.post(unique('Missing'), {}, { as }),
        await store.post(table, { N: 'x' }, { as }),
        await store.post(table, { 'a b': 1 }, { as }),
        await store.post(table, { objectId: '' }, { as }),
        await store.post(table, { N: { __op: 'Frobnicate' } }, { as }),
        await store.put(table, 'abcdefghij', { N: 1 }, { as }),
        await store.remove(table, 'abcdefghij', { as }),
      ])
        assertRefused(answer, captcha);
    });

    test('Authentication: an anonymous write creates no table', async () => {
      const table = unique('Missing');
      await store.post(table, { Name: 'a' }, { as });
      assert.equal(await store.fields(table), undefined);
    });

    test('Errors/119: anonymous reads of a table with an empty CLP', async () => {
      const table = await store.table({ Name: 'String' });
      const id = await store.create(table, { Name: 'a' });
      assertRefused(await store.get(table, id, { as }), {
        code: 119,
        error: new RegExp(`^Permission denied for action get on class ${table}`),
      });
      const listed = await store.call('GET', path(table), { as });
      assertRefused(listed, { code: 119, error: new RegExp(`^Permission denied for action find on class ${table}`) });
    });

    test('Schema record/classLevelPermissions: reads opened to everyone work without a key, and only those', async () => {
      const table = await store.table({ Name: 'String' });
      const id = await store.create(table, { Name: 'a' });
      await permit(table, { find: { '*': true } });
      assert.equal((await store.call('GET', path(table), { as })).body.results.length, 1);
      assertRefused(await store.get(table, id, { as }), { code: 119 });
      await permit(table, { get: { '*': true } });
      assert.equal((await store.get(table, id, { as })).body.Name, 'a');
    });

    test('Authentication: anonymous read where a user must be signed in is 101 or 119', async () => {
      const table = await store.table({ Name: 'String' });
      await permit(table, { find: { requiresAuthentication: true } });
      assertRefused(await store.call('GET', path(table), { as }), { code: [101, 119] });
    });

    const wrong: [string, (keys: { masterKey: string; apiKey: string }) => Record<string, string>][] = [
      ['a wrong master key', () => ({ 'X-Platform-Master-Key': 'wrong' })],
      ['a wrong API key', () => ({ 'X-Platform-API-Key': 'wrong' })],
      ['the master key in the API-key header', ({ masterKey }) => ({ 'X-Platform-API-Key': masterKey })],
      ['the API key in the master-key header', ({ apiKey }) => ({ 'X-Platform-Master-Key': apiKey })],
      ['the master key with another case', ({ masterKey }) => ({ 'X-Platform-Master-Key': masterKey.toUpperCase() })],
      ['the master key with an added letter', ({ masterKey }) => ({ 'X-Platform-Master-Key': `${masterKey}x` })],
      ['the API key cut short', ({ apiKey }) => ({ 'X-Platform-API-Key': apiKey.slice(0, -1) })],
      ['the name of the prototype chain', () => ({ 'X-Platform-API-Key': '__proto__' })],
    ];
    for (const [what, headersOf] of wrong)
      test(`Authentication: ${what} is 119 Permission denied for action <action> on class <X>`, async () => {
        const table = await store.table({ Name: 'String' });
        const id = await store.create(table, { Name: 'a' });
        const before = await store.snapshot(table);
        const options = { as, headers: headersOf(store.service()) } as const;
        const denied = (action: string) => ({
          status: 400,
          code: 119,
          error: new RegExp(`^Permission denied for action ${action} on class ${table}`),
        });
        assertRefused(await store.call('GET', path(table), options), denied('find'));
        assertRefused(await store.get(table, id, options), denied('get'));
        assertRefused(await store.post(table, { Name: 'b' }, options), denied('create'));
        assertRefused(await store.put(table, id, { Name: 'b' }, options), denied('update'));
        assertRefused(await store.remove(table, id, options), denied('delete'));
        assert.equal(await store.snapshot(table), before);
      });

    test('Authentication: an invalid session token is 400 code 209 `invalid session token`', async () => {
      const table = await store.table();
      const headers = { 'X-Platform-Session-Token': `r:${'0'.repeat(32)}` };
      assertRefused(await store.call('GET', path(table), { as, headers }), {
        status: 400,
        code: 209,
        error: 'invalid session token',
      });
    });

    for (const [what, headers] of Object.entries({
      'a missing': {},
      'an unknown': { 'X-Platform-Application-Id': 'nobody' },
      'an empty': { 'X-Platform-Application-Id': '' },
      'a prototype-chain': { 'X-Platform-Application-Id': '__proto__' },
      'a differently cased': { 'X-Platform-Application-Id': 'TESTAPP' },
    }))
      test(`Requests: ${what} application id is 403 {error: unauthorized}, with a good key too`, async () => {
        const table = await store.table();
        const id = await store.create(table, {});
        const key = { 'X-Platform-Master-Key': store.service().masterKey, 'Content-Type': 'application/json' };
        for (const [method, at, body] of [
          ['GET', path(table), ''],
          ['GET', path(table, id), ''],
          ['POST', path(table), '{}'],
          ['PUT', path(table, id), '{}'],
          ['DELETE', path(table, id), ''],
        ] as const) {
          const answer = await send(store.service(), { method, path: at, body, headers: { ...key, ...headers } });
          assert.deepEqual([answer.status, answer.body], [403, { error: 'unauthorized' }], `${method} ${answer.text}`);
        }
        assert.equal((await store.all(table)).length, 1);
      });

    test('Authentication: the names of headers are read in any case', async () => {
      const table = await store.table();
      const { appId, masterKey } = store.service();
      const headers = { 'x-platform-application-id': appId, 'X-PLATFORM-MASTER-KEY': masterKey };
      assert.equal((await send(store.service(), { method: 'GET', path: path(table), headers })).status, 200);
    });
  });
