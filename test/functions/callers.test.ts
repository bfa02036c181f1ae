/** Effect of credentials on function calls, and rows of the request log. Reference: functions.md#calling-a-function. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { logOf, Marked } from '../audit/log.ts';
import type { Asked } from '../support/files.ts';
import { unique } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';
import { signUp } from '../support/users.ts';
import { asForm, encoded, json, useEcho } from './echo.ts';

const MB = 1024 * 1024;

for (const engine of sampledEngines())
  describe(`callers of functions (${engine})`, () => {
    const { service, call } = useEcho(engine);

    describe('credentials', () => {
      const wrong: Record<string, string>[] = [
        { 'X-Platform-Master-Key': 'wrong' },
        { 'X-Platform-API-Key': 'wrong' },
        { 'X-Platform-Session-Token': 'r:00000000000000000000000000000000' },
        { Authorization: 'Bearer wrong', Cookie: 'a=b' },
      ];
      const lead = { Name: 'Dana', Email: 'a@b.cd' };
      test('decide nothing for forms; a session that has ended does no harm', async () => {
        const { token } = await signUp({ call: service().call });
        await service().call('POST', '/platform/logout', { session: token });
        for (const headers of [...wrong, { 'X-Platform-Session-Token': token }]) {
          const { status, text } = await call('getlead', { ...json(lead), headers });
          assert.equal(status, 200, text);
        }
        for (const more of [{ _SessionToken: token }, { _MasterKey: 'wrong' }, { _ApplicationId: 'nobody', _apiKey: 5 }]) {
          const { status, text } = await call('getlead', json({ ...more, ...lead }));
          assert.equal(status, 200, text);
        }
      });
      test('are not shown to functions of the operator, wherever they came', async () => {
        const { id, token } = await signUp({ call: service().call });
        const { masterKey, apiKey } = service();
        const keys = { 'X-Platform-Master-Key': masterKey, 'X-Platform-API-Key': apiKey };
        const others = { Authorization: `Bearer ${apiKey}`, Cookie: `x=${token}`, 'X-Mine': 'seen' };
        const headers = { ...keys, ...others, 'X-Platform-Session-Token': token };
        const body = { _SessionToken: token, _MasterKey: masterKey, _ApplicationId: 'x', _method: 'GET', n: 1 };
        for (const asked of [
          { ...json(body), headers },
          { ...json(body), headers: others },
        ]) {
          const { body: answer, text: shown } = await call('echo', asked);
          for (const secret of [masterKey, apiKey, token]) assert.ok(!shown.includes(secret), shown);
          const { result } = answer;
          assert.deepEqual([result.input, result.headers['x-mine'], result.method], [{ n: 1 }, 'seen', 'POST']);
          assert.deepEqual([result.holdsKey, result.user.objectId], [true, id]);
        }
      });
      test('`user` is the user of a valid session, null without one; a token that has ended is 209', async () => {
        const { id, username, token } = await signUp({ call: service().call }, { job: 'Sales' });
        const ways: Asked[] = [
          { method: 'POST', headers: { 'X-Platform-Session-Token': token } },
          { method: 'GET', headers: { 'X-Platform-Session-Token': token } },
          json({ _SessionToken: token }),
          { method: 'POST', body: encoded({ _SessionToken: token }), headers: asForm() },
        ];
        for (const asked of ways) {
          const { user, holdsKey } = (await call('echo', asked)).body.result;
          assert.deepEqual([user.objectId, user.username, user.job, holdsKey], [id, username, 'Sales', false]);
          for (const secret of ['password', 'sessionToken', '_email_key']) assert.ok(!(secret in user), secret);
        }
        assert.equal((await call(`echo?_SessionToken=${token}`, { method: 'GET' })).body.result.user, null);
        await service().call('POST', '/platform/logout', { session: token });
        for (const asked of ways) {
          const { status, body } = await call('echo', asked);
          assert.deepEqual([status, body], [400, { code: 209, error: 'invalid session token' }]);
        }
      });
      test('a key counts for functions of the operator, in its own header', async () => {
        for (const [name, key, holds] of [
          ['Master-Key', service().masterKey, true],
          ['API-Key', service().apiKey, true],
          ['API-Key', service().masterKey, false],
        ] as const)
          assert.equal((await call('echo', { headers: { [`X-Platform-${name}`]: key } })).body.result.holdsKey, holds);
      });
    });

    test('_RequestLog: a row for each call of a system, GET too, without query, body and credentials', async () => {
      const client = new Marked(service());
      const secret = unique('Secret');
      const at = `/functions/${service().appId}`;
      const apiKey = { 'X-Platform-API-Key': service().apiKey };
      await client.ask({ path: `${at}/echo?a=${secret}`, body: { a: secret, _MasterKey: secret }, headers: { Cookie: secret } });
      await client.ask({ method: 'GET', path: `${at}/getlead?Email=${secret}` });
      await client.ask({ path: `${at}/none`, body: { a: secret } });
      await client.ask({ path: `${at}/getlead`, body: `{"a":"${secret}` });
      await client.ask({ path: `${at}/echo`, headers: apiKey });
      await client.ask({ path: `${at}/echo`, body: ' '.repeat(20 * MB + 1), headers: apiKey });
      const { id, token } = await signUp({ call: service().call });
      const session = { 'X-Platform-Session-Token': token };
      await client.ask({ path: `${at}/echo`, headers: session });
      await client.ask({ path: `${at}/getlead`, body: { Email: 'a@b.cd' }, headers: session });
      await client.ask({ path: '/functions/nobody/getlead', body: {} });
      await client.ask({ method: 'PUT', path: `${at}/getlead`, body: {} });
      const rows = await client.rows();
      assert.deepEqual(
        rows.map(({ path, method, statusCode, user, usingMK }) => [path, method, statusCode, user?.objectId, usingMK]),
        [
          [`${at}/echo`, 'POST', 200, undefined, false],
          [`${at}/getlead`, 'GET', 200, undefined, false],
          [`${at}/none`, 'POST', 400, undefined, false],
          [`${at}/getlead`, 'POST', 400, undefined, false],
          [`${at}/echo`, 'POST', 200, 'master', true],
          [`${at}/echo`, 'POST', 413, 'master', true],
          [`${at}/echo`, 'POST', 200, id, false],
          [`${at}/getlead`, 'POST', 200, undefined, false],
        ],
      );
      const all = JSON.stringify(await logOf(service()));
      assert.ok(!all.includes(secret) && !all.includes(service().apiKey));
    });
  });
