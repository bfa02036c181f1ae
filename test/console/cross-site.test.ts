/**
 * Requests from other sites are refused, except a link that opens the console; other origins learn nothing. Reference:
 * console.md#sign-in-to-the-console.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { Visitor } from '../support/console.ts';
import { anyEngine, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { signUp } from '../support/users.ts';

const evil = 'https://evil.example';

describe('requests of other sites', () => {
  let service: Service;
  let visitor: Visitor;

  before(async () => {
    service = await sharedService(anyEngine[0] ?? 'sqlite');
    visitor = new Visitor(service);
    await visitor.signIn((await signUp(service)).username);
  });

  /** Every address of the API, by method. */
  const api = [
    ['POST', 'session'],
    ['DELETE', 'session'],
    ['PUT', 'me/password'],
    ['POST', 'files/Accounts/Doc?name=a.txt'],
    ['POST', 'records/Accounts'],
    ['PUT', 'records/Accounts/x'],
    ['DELETE', 'records/Accounts/x'],
    ['GET', 'me'],
    ['GET', 'model'],
    ['GET', 'rows/Accounts'],
    ['GET', 'count/Accounts'],
    ['GET', 'records/Accounts/x'],
    ['GET', 'related/Accounts/x'],
    ['GET', 'history/Accounts/x'],
    ['GET', 'search?q=a'],
    ['GET', 'changes'],
    ['GET', 'nothing'],
  ] as const;
  const marked = { 'x-console': '1' };

  test('a script or a form of another site is refused by Sec-Fetch-Site', async () => {
    for (const [method, path] of api)
      for (const site of ['cross-site', 'same-site', 'other'])
        for (const mode of ['cors', 'no-cors', 'navigate']) {
          const headers = { ...marked, 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': 'iframe', origin: evil };
          const answer = await visitor.api(method, path, { headers });
          assert.equal(answer.status, 403, `${method} ${path} ${site} ${mode}`);
        }
    assert.equal((await visitor.api('GET', 'me')).status, 200, 'it is signed in still');
  });

  test('browsers that send no Sec-Fetch-Site are distinguished by Origin', async () => {
    const path = `/console/-/api/${service.appId}/me`;
    for (const origin of [evil, 'null', service.url.replace('http:', 'https:'), `${service.url}0`, service.url.toUpperCase()])
      assert.equal((await visitor.send('GET', path, { headers: { origin } })).status, 403, origin);
    assert.equal((await visitor.send('GET', path, { headers: { origin: service.url } })).status, 200);
    assert.equal((await visitor.send('GET', path)).status, 200);
  });

  test('what may change something carries the mark of the program, which no other site can send', async () => {
    const credentials = { username: 'a', password: 'b' };
    for (const [method, path] of api.filter(([name]) => name !== 'GET'))
      assert.equal((await visitor.send(method, `/console/-/api/${service.appId}/${path}`, { body: credentials })).status, 403);
    const language = await visitor.send('POST', '/console/-/api/language', { body: { language: 'he' } });
    assert.equal(language.status, 403);
    assert.equal(language.headers['set-cookie'], undefined);
  });

  test('a body that is no JSON is refused', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const answer = await visitor.api('POST', 'session', { body: '{"username":"a"}', headers: { 'content-type': type } });
      assert.equal(answer.body.code, 107, type);
    }
  });

  test('preflights are refused, and no answer names another origin', async () => {
    for (const path of [
      '/console/',
      '/console/sign-in',
      `/console/-/api/${service.appId}/session`,
      '/console/-/assets/x.js',
      '/console/x/y',
    ]) {
      const preflightHeaders = {
        origin: evil,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-console',
      };
      const preflight = await visitor.send('OPTIONS', path, { headers: preflightHeaders });
      assert.equal(preflight.status, 403, path);
      const plain = await visitor.send('GET', path, { headers: { origin: service.url } });
      for (const { headers } of [preflight, plain])
        assert.deepEqual(
          Object.keys(headers).filter((name) => name.startsWith('access-control-')),
          [],
          path,
        );
    }
  });

  test('nor does an answer to what is no address of it', async () => {
    const requests = [
      ['PROPFIND', '/console/'],
      ['TRACE', `/console/-/api/${service.appId}/me`],
      ['QUERY', `/%63onsole/-/api/${service.appId}/me`],
      ['GET', '/console/%zz'],
      ['GET', '/%63onsole/%zz'],
    ] as const;
    for (const [method, path] of requests) {
      const { status, headers } = await visitor.send(method, path, { headers: { origin: evil } });
      assert.ok(status >= 400, path);
      assert.deepEqual(
        Object.keys(headers).filter((name) => name.startsWith('access-control-')),
        [],
        `${method} ${path}`,
      );
    }
    const other = await visitor.send('GET', '/platform/%zz', { headers: { origin: evil } });
    assert.equal(other.headers['access-control-allow-origin'], evil);
  });

  test('a link of another site opens a page, at the top alone', async () => {
    const from = (dest: string, mode = 'navigate') => ({
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': mode,
      'sec-fetch-dest': dest,
    });
    for (const path of ['/console/', '/console/sign-in', `/console/${service.appId}/Accounts`]) {
      assert.ok([200, 303, 503].includes((await visitor.send('GET', path, { headers: from('document') })).status), path);
      for (const dest of ['iframe', 'embed', 'object', 'frame'])
        assert.equal((await visitor.send('GET', path, { headers: from(dest) })).status, 403, `${path} in ${dest}`);
      assert.equal((await visitor.send('GET', path, { headers: from('script', 'no-cors') })).status, 403, path);
      assert.equal((await visitor.send('POST', path, { headers: { ...marked, ...from('document') } })).status, 403, path);
    }
  });
});
