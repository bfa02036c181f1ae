/** No secret reaches the logs, even at LOG_LEVEL=debug and even if the request fails. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { tableName } from '../support/query.ts';
import { anyEngine, type Service, startService } from '../support/service.ts';
import { storedIn } from '../support/stored.ts';

for (const engine of anyEngine)
  describe(`secrets at LOG_LEVEL=debug (${engine})`, () => {
    let service: Service;
    before(async () => {
      service = await startService({ engine, env: { LOG_LEVEL: 'debug' } });
    });
    after(async () => {
      await service.stop();
    });
    let count = 0;
    const secret = () => `s3cret-value-${++count}-${process.pid}`;
    const hidden = async (value: string) => {
      await wait(100);
      assert.ok(!service.output().includes(value), `the log holds ${value}`);
      assert.ok(!service.output().includes(encodeURIComponent(value)));
    };

    for (const name of [
      'X-Platform-Master-Key',
      'X-Platform-API-Key',
      'X-Platform-Session-Token',
      'Authorization',
      'Cookie',
      'x-platform-MASTER-key',
    ])
      test(`a value in the header ${name}`, async () => {
        const value = secret();
        await service.call('GET', '/platform/classes/T', { as: 'anonymous', headers: { [name]: value } });
        await service.call('POST', '/platform/classes/T', { as: 'anonymous', headers: { [name]: value }, body: '{' });
        await service.call('GET', '/platform/nothing', { as: 'anonymous', headers: { [name]: value } });
        await hidden(value);
      });
    for (const name of ['_MasterKey', '_apiKey', '_SessionToken', 'password'])
      test(`a value in the body under ${name}`, async () => {
        const value = secret();
        const body = { _ApplicationId: service.appId, [name]: value, n: 1 };
        for (const path of ['/platform/classes/T', '/platform/batch', '/platform/login', '/platform/nothing'])
          for (const text of [JSON.stringify(body), JSON.stringify(body).slice(0, -1)])
            await fetch(service.url + path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text });
        await hidden(value);
      });
    for (const name of ['_MasterKey', '_apiKey', '_SessionToken', 'masterKey', 'password', 'token'])
      test(`a value in the query string under ${name}`, async () => {
        const value = secret();
        for (const path of ['/platform/classes/T', '/platform/nothing', '/platform/login', '/nothing'])
          await service.call('GET', path, { query: { [name]: value } });
        await hidden(value);
      });
    test("the service's own keys, when they are used", async () => {
      const table = tableName('T');
      await service.call('POST', `/platform/classes/${table}`, { body: { n: 1 } });
      await service.call('GET', `/platform/classes/${table}`, { as: 'apiKey' });
      await fetch(`${service.url}/platform/classes/${table}`, {
        method: 'POST',
        body: JSON.stringify({ _ApplicationId: service.appId, _MasterKey: service.masterKey, n: 1 }),
      });
      await hidden(service.masterKey);
      await hidden(service.apiKey);
    });
    test('keys are not stored in clear text', async () => {
      for (const { path, bytes } of await storedIn(service))
        for (const key of [service.masterKey, service.apiKey]) assert.ok(!bytes.includes(key), path);
    });
  });
