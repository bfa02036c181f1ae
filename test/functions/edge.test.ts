/** Addresses, methods and bodies of function calls. Reference: functions.md#calling-a-function. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { type Asked, ask } from '../support/files.ts';
import { type Json, unique } from '../support/records.ts';
import { type Answer, sampledEngines } from '../support/service.ts';
import { asForm, bounds, encoded, json, useBounded, useEcho } from './echo.ts';

const MB = 1024 * 1024;
const origin = 'https://forms.example';
for (const engine of sampledEngines())
  describe(`functions at the edge (${engine})`, () => {
    const { service, call } = useEcho(engine);
    const leads = async (name: string): Promise<Json[]> => {
      const { body } = await service().call('GET', '/platform/classes/Accounts', { query: { where: { Name: name } } });
      return body.results;
    };
    const assertLead = async (answer: Pick<Answer, 'status' | 'body' | 'text'>, name: string): Promise<void> => {
      const [lead, ...more] = await leads(name);
      assert.equal(more.length, 0);
      assert.deepEqual([answer.status, answer.body], [200, { result: { success: true, leadId: lead?.objectId } }], answer.text);
    };

    test('the application id in the path decides the target system; the header copy is sent but not enforced', async () => {
      for (const headers of [{}, { 'X-Platform-Application-Id': 'another' }, { 'X-Platform-Application-Id': service().appId }]) {
        const Name = unique('Lead');
        await assertLead(await call('getlead', { ...json({ Name, Email: 'a@example.com' }), headers: { ...headers } }), Name);
      }
    });
    test('an unknown application id: 403 {error: unauthorized}, before all else', async () => {
      for (const appId of ['nobody', '__proto__', '%20', 'x'.repeat(300)])
        for (const fn of ['getlead', 'none'])
          for (const asked of [json({}), { method: 'POST', body: '{' }, { method: 'GET' }]) {
            const headers = { 'X-Platform-Application-Id': service().appId };
            const { status, body } = await call(fn, { ...asked, headers }, appId);
            assert.deepEqual([status, body], [403, { error: 'unauthorized' }], `${appId}/${fn}`);
          }
    });
    for (const fn of ['none', 'web2lead', 'GetLead', 'getlead%20', '__proto__', 'constructor', '..%2Fecho', 'echo.mjs', '%D7%90'])
      test(`a name that does not exist: 400 {error: User function not found}, without a code: ${fn}`, async () => {
        for (const asked of [json({ Name: 'x', Email: 'a@b.c' }), { method: 'POST', body: '{' }, { method: 'GET' }]) {
          const { status, body, headers } = await call(fn, asked);
          assert.deepEqual([status, body], [400, { error: 'User function not found' }]);
          assert.match(headers['content-type'] ?? '', /^application\/json/);
          assert.equal(headers['cache-control'], 'no-store');
        }
      });
    test('other methods and other paths: 404', async () => {
      const Name = unique('Lead');
      for (const method of ['PUT', 'DELETE', 'PATCH'])
        for (const appId of [service().appId, 'nobody'])
          assert.equal((await call(`getlead?Name=${Name}&Email=a@example.com`, { method }, appId)).status, 404, method);
      for (const fn of ['', 'getlead/', 'getlead/more']) {
        const { status, body } = await call(fn, json({ Name, Email: 'a@example.com' }));
        assert.deepEqual([status, body], [404, { error: 'Not found.' }], fn);
      }
      assert.deepEqual(await leads(Name), []);
    });

    test('a GET with a query string also creates a record; no cache may store its answer', async () => {
      const Name = unique('ליד & ');
      const answer = await call(`getlead?${encoded({ Name, PhoneNumber: '+972 50-1234567' })}`, { method: 'GET' });
      await assertLead(answer, Name);
      assert.equal(answer.headers['cache-control'], 'no-store');
      const [lead] = await leads(Name);
      assert.equal(lead.PhoneNumber, '+972 50-1234567');
    });
    test('a HEAD runs the function as a GET does, and answers without a body', async () => {
      const Name = unique('Lead');
      const asked = `getlead?${encoded({ Name, Email: 'a@example.com' })}`;
      const { status, headers, text: told } = await call(asked, { method: 'HEAD' });
      assert.deepEqual([status, told], [200, '']);
      assert.match(headers['content-type'] ?? '', /^application\/json/);
      assert.equal((await leads(Name)).length, 1);
    });
    for (const more of ['', ';charset=UTF-8', '; charset="utf-8"; x=y'])
      test(`application/x-www-form-urlencoded is also accepted${more}`, async () => {
        const Name = unique('ליד + ');
        const body = encoded({ Name, Email: 'dana+1@example.com' });
        await assertLead(await call('getlead', { method: 'POST', body, headers: asForm(more) }), Name);
        assert.equal((await leads(Name))[0].Email, 'dana+1@example.com');
      });
    for (const [body, input] of [
      ['', {}],
      ['a=1&a=2&b%5B%5D=3&c=x%2By+z', { a: ['1', '2'], b: ['3'], c: 'x+y z' }],
      ['a=100%&b=%zz&c&=d', { a: '100%', b: '%zz', c: '', '': 'd' }],
    ] as const)
      test(`a form, and the query of a GET: ${body}`, async () => {
        for (const headers of [asForm(), { 'content-type': 'Application/X-WWW-Form-Urlencoded' }])
          assert.deepEqual((await call('echo', { method: 'POST', body, headers })).body.result.input, input);
        assert.deepEqual((await call(`echo?${body}`, { method: 'GET' })).body.result.input, input);
      });
    test('names of the language are keys like any other', async () => {
      const names = ['__proto__', 'constructor', 'toString', 'polluted'];
      for (const asked of [
        { method: 'POST', body: '__proto__=1&__proto__=2&constructor=3&toString=4&polluted=5', headers: asForm() },
        {
          method: 'POST',
          body: '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,"polluted":2}',
        },
      ]) {
        const { result } = (await call('echo', asked)).body;
        assert.deepEqual([result.names, result.plain], [names, true]);
        const Name = unique('Lead');
        const more = asked.headers ? `&${encoded({ Name, Email: 'a@b.cd' })}` : '';
        const body = more === '' ? asked.body.replace('{', `{"Name":"${Name}","Email":"a@b.cd",`) : asked.body + more;
        await assertLead(await call('getlead', { ...asked, body }), Name);
      }
      assert.equal((await call('echo')).body.result.plain, true);
    });
    test('JSON under the type of forms, as `curl -d` sends it, is JSON', async () => {
      const { result } = (await call('echo', { method: 'POST', body: ' {"a":[1]}', headers: asForm() })).body;
      assert.deepEqual(result.input, { a: [1] });
      assert.equal((await call('echo', { method: 'POST', body: '{"a":', headers: asForm() })).body.code, 107);
    });
    test('no body is an empty object', async () => {
      for (const headers of [{}, asForm(), { 'Content-Type': 'application/json' }] as Record<string, string>[]) {
        assert.deepEqual((await call('echo', { method: 'POST', headers })).body.result.input, {});
        const { status, body } = await call('getlead', { method: 'POST', headers });
        assert.deepEqual([status, body], [400, { error: 'missing "PhoneNumber" or "Email"' }]);
      }
    });
    for (const [what, asked] of [
      ['JSON that breaks off', { body: '{"Name":' }],
      ['an array', { body: '[{"Name":"x"}]' }],
      ['a text', { body: '"x"' }],
      ['null', { body: 'null' }],
      ['NUL', { body: '{"Name":"\\u0000"}' }],
      ['half of a surrogate pair', { body: '{"\\udc00":1}' }],
      ['a number that is not finite', { body: '{"a":1e999}' }],
      ['JSON nested too deep', { body: `{"a":${'['.repeat(120)}${']'.repeat(120)}}` }],
      ['a form that is said to be JSON', { body: 'Name=x', headers: { 'Content-Type': 'application/json' } }],
      ['NUL in a form', { body: 'Name=%00', headers: asForm() }],
      ['NUL in a name of a form', { body: 'a%00=x', headers: asForm() }],
      ['multipart', { body: '--x--', headers: { 'Content-Type': 'multipart/form-data; boundary=x' } }],
    ] as const)
      test(`107: ${what}`, async () => {
        for (const fn of ['getlead', 'web2table', 'echo']) {
          const { status, body } = await call(fn, { method: 'POST', ...asked } as Asked);
          assert.deepEqual([status, body.code], [400, 107], fn);
          if (what === 'multipart') assert.match(body.error, /x-www-form-urlencoded or JSON/);
        }
      });
    test('NUL in a query: 107', async () => {
      const { status, body } = await call('getlead?Name=%00&Email=a@b.cd', { method: 'GET' });
      assert.deepEqual([status, body.code], [400, 107]);
    });

    test('Conventions CORS: a preflight is answered, and every answer echoes the Origin', async () => {
      const headers = {
        Origin: origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type',
      };
      const preflight = await call('getlead', { method: 'OPTIONS', headers });
      assert.ok([200, 204].includes(preflight.status));
      assert.equal(preflight.headers['access-control-allow-origin'], origin);
      assert.match(preflight.headers['access-control-allow-methods'] ?? '', /POST/);
      for (const [status, fn, asked, appId] of [
        [200, 'echo', { method: 'POST' }],
        [200, 'echo', { method: 'GET' }],
        [400, 'none', { method: 'POST' }],
        [400, 'getlead', { method: 'POST', body: '{' }],
        [403, 'getlead', { method: 'POST' }, 'nobody'],
        [404, 'getlead', { method: 'PUT' }],
        [413, 'getlead', { method: 'POST', body: ' '.repeat(20 * MB + 1) }],
      ] as [number, string, Asked, string?][]) {
        const answer = await call(fn, { ...asked, headers: { Origin: origin } }, appId);
        assert.deepEqual([answer.status, answer.headers['access-control-allow-origin']], [status, origin], String(status));
        assert.ok(answer.headers['x-request-id'], 'every answer carries X-Request-Id');
      }
      const named = await call('echo', { method: 'POST', headers: { 'X-Request-Id': 'my-request-1' } });
      assert.equal(named.headers['x-request-id'], 'my-request-1');
    });
    test('the same name under the data prefix returns 141 function not found', async () => {
      for (const at of ['getlead', 'echo', 'none', `${service().appId}/getlead`, 'nobody/none'])
        for (const method of ['GET', 'POST'])
          for (const as of ['anonymous', 'master'] as const) {
            const answer = await service().call(method, `/platform/functions/${at}`, {
              as,
              ...(method === 'POST' && { body: { Email: 'a@b.cd' } }),
            });
            assert.deepEqual([answer.status, answer.body], [400, { code: 141, error: 'function not found' }], at);
          }
    });

    test('limits: a body over 20 MB is 413 {code: 116} while it is sent; the name is judged before', async () => {
      const tooLarge = { code: 116, error: 'Request body is too large.' };
      for (const headers of [{ 'Content-Length': String(21 * MB) }, { 'Transfer-Encoding': 'chunked' }] as Record<
        string,
        string
      >[])
        for (const [fn, status, body] of [
          ['getlead', 413, tooLarge],
          ['none', 400, { error: 'User function not found' }],
        ] as const) {
          const sent: ClientRequest = request(`${service().url}/functions/${service().appId}/${fn}`, {
            method: 'POST',
            headers,
            agent: false,
          });
          sent.on('error', () => {});
          const answered = once(sent, 'response');
          // With a Content-Length, the rest of the body is never sent.
          sent.write(' '.repeat('Content-Length' in headers ? 1 : 20 * MB + 1));
          const [answer] = (await answered) as [IncomingMessage];
          assert.equal(answer.statusCode, status);
          sent.destroy();
          assert.deepEqual(JSON.parse(await text(answer).catch(() => 'null')) ?? body, body);
        }
    });
  });

describe('FUNCTION_BODY_BYTES', () => {
  const get = useBounded();
  test('FUNCTION_BODY_BYTES bounds the bodies of calls, and of nothing else', async () => {
    const service = get();
    const at = `${service.url}/functions/${service.appId}/getlead`;
    const body = (length: number) => JSON.stringify({ Email: 'a@b.cd', Name: 'x'.repeat(length) });
    assert.equal((await ask(at, { method: 'POST', body: body(20) })).status, 200);
    for (const chunked of [true, false]) {
      const answer = await ask(at, { method: 'POST', body: body(bounds.bytes), chunked });
      assert.deepEqual([answer.status, answer.body], [413, { code: 116, error: 'Request body is too large.' }]);
    }
    const made = await service.call('POST', '/platform/classes/Accounts', { body: { Name: 'x'.repeat(200) } });
    assert.equal(made.status, 201, made.text);
  });
});
