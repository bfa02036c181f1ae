/** The gate accepts only `returnTo` of its own origin, and never causes a redirect loop. Reference: console.md#the-gate. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { crmOf } from '../support/client.ts';
import { Visitor } from '../support/console.ts';
import { storeOf } from '../support/records.ts';
import { anyEngine, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { newRole, signUp, type User } from '../support/users.ts';

describe('the gate', () => {
  let service: Service;
  let reader: User;
  let stranger: User;
  /** The address of a private file. */
  let file: string;

  before(async () => {
    service = await sharedService(anyEngine[0] ?? 'sqlite');
    [reader, stranger] = [await signUp(service), await signUp(service)];
    const store = storeOf(() => service);
    const table = await store.table({ F: 'PrivateFile' });
    const only = { [`role:${(await newRole(service, [reader])).name}`]: true };
    const crm = crmOf(service);
    await crm.request('PUT', `schemas/${table}`, { body: { classLevelPermissions: { get: only, find: only } } });
    const F = await crm.files.upload('note 1.txt', 'private words', { contentType: 'text/plain' });
    const { objectId } = await crm.table(table).create({ F });
    file = `/platform/files/${service.appId}/${F.name}/${table}/${objectId}/F`;
  });

  const visit = async (user?: User) => {
    const visitor = new Visitor(service);
    if (user) await visitor.signIn(user.username);
    return visitor;
  };
  const gate = (visitor: Visitor, returnTo: string, more = '') =>
    visitor.send('GET', `/console/sign-in?returnTo=${encodeURIComponent(returnTo)}${more}`);

  test('signed out: a private file leads to the gate, which asks to sign in, and then to the file', async () => {
    const visitor = await visit();
    const sent = await visitor.send('GET', file);
    assert.equal(sent.status, 302);
    const location = new URL(String(sent.headers.location));
    const answer = await visitor.send('GET', location.pathname + location.search);
    assert.ok([200, 503].includes(answer.status), answer.text);
    assert.match(String(answer.headers['content-type']), /text\/html/);
    await visitor.signIn(reader.username);
    const on = await visitor.send('GET', location.pathname + location.search);
    assert.equal(on.status, 303);
    assert.equal(on.headers.location, file);
    const read = await visitor.send('GET', String(on.headers.location));
    assert.equal(read.text, 'private words');
  });

  test('signed in: a file that is open is led to, its cookie renewed', async () => {
    const visitor = await visit(reader);
    visitor.cookies.delete('console.files.testapp');
    assert.equal((await visitor.send('GET', file)).status, 302);
    const on = await gate(visitor, `${service.url}${file}`);
    assert.equal(on.status, 303);
    assert.equal((await visitor.send('GET', file)).status, 200);
  });

  test('signed in without the right: a page says so, whether there is such a file or not', async () => {
    const visitor = await visit(stranger);
    const missing = file.replace(/[0-9a-f]{32}/, '0'.repeat(32));
    const pages = await Promise.all([file, missing].map((path) => gate(visitor, path)));
    for (const { status, text, headers } of pages) {
      assert.equal(status, 403);
      assert.equal(headers.location, undefined);
      assert.ok(text.includes(stranger.username));
    }
    assert.equal(pages[0]?.text.replaceAll(/returnTo=[^"]*/g, ''), pages[1]?.text.replaceAll(/returnTo=[^"]*/g, ''));
    const other = /href="([^"]*as=other[^"]*)"/.exec(pages[0]?.text ?? '')?.[1]?.replaceAll('&amp;', '&') ?? '';
    assert.ok([200, 503].includes((await visitor.send('GET', other)).status), 'somebody else may sign in there');
  });

  test('a page of the console is led to after sign-in', async () => {
    const visitor = await visit();
    const path = `/console/${service.appId}/Accounts?where=%7B%22Name%22%3A%22a%26b%22%7D`;
    const sent = await visitor.send('GET', path);
    assert.equal(sent.status, 303);
    await visitor.signIn(reader.username);
    const on = await visitor.send('GET', String(sent.headers.location));
    assert.equal(on.headers.location, path);
  });

  test('what is no address of its own is dropped, before and after sign-in', async () => {
    const host = new URL(service.url).host;
    const hostile = [
      'https://evil.example/',
      '//evil.example/platform/files/testapp/a/b/c/d',
      '/\\evil.example/console/testapp/',
      '\\\\evil.example/console/testapp/',
      'https:evil.example',
      'http:/evil.example',
      `http://${host}@evil.example/console/testapp/`,
      `http://user:pass@${host}/console/testapp/`,
      `http://${host}.evil.example/console/testapp/`,
      `https://${host}/console/testapp/`,
      'javascript:alert(1)//console/testapp/',
      'data:text/html,<script>alert(1)</script>',
      `${service.url}/console/../platform/classes/Accounts`,
      `${service.url}/console/%2e%2e/platform/classes/Accounts`,
      '/console/testapp/../../oauth/testapp/x',
      '/platform/classes/Accounts',
      '/platform/files/testapp/only-a-name',
      '/console/-/api/testapp/me',
      '/console/sign-in?returnTo=/console/testapp/',
      '/console/testapp/\r\nSet-Cookie: a=b',
      '/console/testapp/\u0000',
      '\t/console/testapp/',
      '/console/%ff/',
      '/static/testapp/x',
      `/console/testapp/${'a'.repeat(9_000)}`,
      '',
    ];
    const [signedIn, signedOut] = [await visit(reader), await visit()];
    for (const returnTo of hostile) {
      const before = await gate(signedOut, returnTo);
      assert.ok([200, 503].includes(before.status), returnTo);
      const after = await gate(signedIn, returnTo);
      assert.equal(after.status, 303, returnTo);
      assert.equal(after.headers.location, `/console/${service.appId}/`, returnTo);
      assert.equal(after.headers['x-a'], undefined);
    }
  });

  test('home: to the system that the browser is signed in to', async () => {
    assert.equal((await (await visit(reader)).send('GET', '/console/')).headers.location, `/console/${service.appId}/`);
    assert.ok([200, 503].includes((await (await visit()).send('GET', '/console/')).status));
    assert.equal((await (await visit()).send('GET', '/console')).headers.location, '/console/');
    const unknown = await (await visit(reader)).send('GET', '/console/no-such-system/');
    assert.equal(unknown.headers.location, '/console/sign-in?returnTo=%2Fconsole%2Fno-such-system%2F&app=no-such-system');
  });
});

test('below a path, addresses begin with it', async () => {
  const service = await sharedService(anyEngine[0] ?? 'sqlite', { BASE_URL: 'http://localhost:8080/service' });
  const visitor = new Visitor(service);
  const sent = await visitor.send('GET', '/console/testapp/Accounts');
  assert.equal(sent.headers.location, '/service/console/sign-in?returnTo=%2Fservice%2Fconsole%2Ftestapp%2FAccounts&app=testapp');
});
