import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, type Json, path, type RawRequest, send, unique, useStore } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';

const flags = [
  'dontRunPlatformTriggers',
  'dontUpdatePlatformTimeline',
  'dontRunPlatformTriggersCreate',
  'dontRunPlatformTriggersUpdate',
];
const credentials = ['_ApplicationId', '_MasterKey', '_apiKey', '_SessionToken', '_InstallationId', '_ClientVersion', '_method'];

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);

    for (const flag of flags)
      for (const value of [true, false])
        test(`Trigger-silencing flags: ${flag}: ${value} is consumed: the record is saved without it and no column is created`, async () => {
          const table = await store.table({ Name: 'String' });
          for (const as of ['master', 'apiKey'] as const) {
            const id = await store.create(table, { Name: 'a', [flag]: value }, { as });
            await store.update(table, id, { Name: 'b', [flag]: value }, { as });
            await store.update(table, id, { [flag]: value }, { as });
            const record = await store.read(table, id);
            assert.equal(record.Name, 'b');
            assert.equal(Object.hasOwn(record, flag), false);
          }
          assert.equal((await store.fields(table))[flag], undefined);
        });

    test('Trigger-silencing flags: all four at once, on the first write of a table', async () => {
      const table = unique('T');
      const id = await store.create(table, { Name: 'a', ...Object.fromEntries(flags.map((flag) => [flag, true])) });
      const fields = await store.fields(table);
      for (const flag of flags) assert.equal(fields[flag], undefined);
      assert.equal((await store.read(table, id)).Name, 'a');
    });

    const json = 'application/json';
    const keys = () => {
      const { appId, masterKey } = store.service();
      return { _ApplicationId: appId, _MasterKey: masterKey };
    };
    const bare = (at: string, body: Json, { type = json, ...rest }: Partial<RawRequest> & { type?: string } = {}) =>
      send(store.service(), {
        path: at,
        body: JSON.stringify(body),
        ...rest,
        headers: { 'Content-Type': type, ...rest.headers },
      });

    for (const type of ['application/json', 'text/plain', 'text/plain;charset=UTF-8'])
      test(`Requests: credentials may travel in a JSON body (${type}); they are consumed, never stored`, async () => {
        const table = await store.table({ Name: 'String' });
        const extra = { _InstallationId: 'installation', _ClientVersion: 'js1.0.0' };
        const answer = await bare(path(table), { Name: 'a', ...keys(), ...extra }, { type });
        assert.equal(answer.status, 201, answer.text);
        const changed = await bare(
          path(table, answer.body.objectId),
          { Name: 'b', ...keys(), ...extra },
          { method: 'PUT', type },
        );
        assert.equal(changed.status, 200, changed.text);
        const record = await store.read(table, answer.body.objectId);
        assert.equal(record.Name, 'b');
        const fields = await store.fields(table);
        for (const name of credentials) {
          assert.equal(Object.hasOwn(record, name), false);
          assert.equal(fields[name], undefined);
        }
      });

    test('Requests: _method gives GET, PUT and DELETE over POST', async () => {
      const table = await store.table({ Name: 'String' });
      const id = await store.create(table, { Name: 'a' });
      const over = (method: string, body = {}) =>
        bare(path(table, id), { ...keys(), ...body, _method: method }, { type: 'text/plain' });
      assert.deepEqual((await over('GET')).body, await store.read(table, id));
      assert.equal((await over('PUT', { Name: 'b' })).status, 200);
      assert.equal((await store.read(table, id)).Name, 'b');
      assert.deepEqual((await over('DELETE')).body, {});
      assertRefused(await store.get(table, id), { code: 101 });
    });

    test('Requests: _method with the credentials in headers', async () => {
      const table = await store.table({ Name: 'String' });
      const id = await store.create(table, { Name: 'a' });
      const answer = await store.call('POST', path(table, id), { body: { _method: 'PUT', Name: 'b' } });
      assert.deepEqual(Object.keys(answer.body).sort(), ['objectId', 'updatedAt']);
      assert.deepEqual(Object.keys(await store.fields(table)).includes('_method'), false);
    });

    test('Requests: _apiKey grants what the API key does', async () => {
      const table = await store.table({ Name: 'String' });
      const { appId, apiKey } = store.service();
      const answer = await bare(path(table), { Name: 'a', _ApplicationId: appId, _apiKey: apiKey });
      assert.equal(answer.status, 201, answer.text);
    });

    test('Requests: body credentials beside the application-id header', async () => {
      const table = await store.table({ Name: 'String' });
      const { appId, masterKey } = store.service();
      const answer = await bare(
        path(table),
        { Name: 'a', _MasterKey: masterKey },
        { headers: { 'X-Platform-Application-Id': appId } },
      );
      assert.equal(answer.status, 201, answer.text);
    });

    test('Requests: a header wins over the body', async () => {
      const table = await store.table({ Name: 'String' });
      const { appId, masterKey } = store.service();
      const wins = await bare(
        path(table),
        { Name: 'a', _ApplicationId: 'unknown', _MasterKey: 'wrong' },
        { headers: { 'X-Platform-Application-Id': appId, 'X-Platform-Master-Key': masterKey } },
      );
      assert.equal(wins.status, 201, wins.text);
      const loses = await bare(path(table), { Name: 'b', ...keys() }, { headers: { 'X-Platform-Master-Key': 'wrong' } });
      assertRefused(loses, { code: 119, error: new RegExp(`^Permission denied for action create on class ${table}`) });
      assert.equal((await store.all(table)).length, 1);
    });

    test('Requests: wrong credentials in a body are wrong credentials', async () => {
      const table = await store.table({ Name: 'String' });
      const unknown = await bare(path(table), { Name: 'a', _ApplicationId: 'unknown', _MasterKey: 'x' });
      assert.deepEqual([unknown.status, unknown.body], [403, { error: 'unauthorized' }]);
      const { appId, apiKey, masterKey } = store.service();
      for (const wrong of [{ _MasterKey: 'wrong' }, { _MasterKey: apiKey }, { _apiKey: masterKey }]) {
        const answer = await bare(path(table), { Name: 'a', _ApplicationId: appId, ...wrong });
        assertRefused(answer, { code: 119, error: new RegExp(`^Permission denied for action create on class ${table}`) });
      }
      assert.deepEqual(await store.all(table), []);
    });

    test('Requests: credentials in a body that are no strings never pass and never break the service', async () => {
      const table = await store.table({ Name: 'String' });
      for (const value of [5, true, null, {}, [], { $ne: '' }, ['x']])
        for (const name of credentials.slice(0, 4)) {
          const answer = await bare(path(table), { Name: 'a', _ApplicationId: store.service().appId, [name]: value });
          assert.ok(
            answer.status >= 400 && answer.status < 500,
            `${name} ${JSON.stringify(value)}: ${answer.status} ${answer.text}`,
          );
        }
      for (const _method of [5, null, 'PATCH', 'TRACE', '__proto__', {}]) {
        const answer = await store.post(table, { Name: 'a', _method });
        assert.ok(answer.status < 500, answer.text);
      }
      for (const record of await store.all(table)) assert.equal(Object.hasOwn(record, '_method'), false);
    });
  });
