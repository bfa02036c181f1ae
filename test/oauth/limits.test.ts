/** Rate limits of an address for sign-in (RATE_LIMIT_LOGIN) and for registration of clients. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  agentUser,
  authorizeUrl,
  Browser,
  type Client,
  credentials,
  pkce,
  redirectUri,
  register,
  tryRegister,
} from '../support/oauth.ts';
import { type Service, startService } from '../support/service.ts';
import { login, password, wrong } from '../support/users.ts';

describe('limits', () => {
  let service: Service;
  let client: Client;
  before(async () => {
    service = await startService({ env: { RATE_LIMIT_LOGIN: '2' } });
    client = await register(service);
  });
  after(() => service.stop());

  test('attempts to sign in are limited as the login is, and apart from it', async () => {
    const user = await agentUser(service);
    const browser = new Browser(service);
    const parameters = { code_challenge: pkce().challenge, code_challenge_method: 'S256' };
    let page = await browser.get(authorizeUrl(service, client, parameters));
    for (let n = 0; n < 2; n++) page = await browser.submit(page, credentials(user.username, wrong));
    assert.match(page.text, /is wrong/);
    page = await browser.submit(page, credentials(user.username));
    assert.equal(page.status, 429);
    assert.match(page.headers.get('retry-after') ?? '', /^\d+$/);
    assert.match(page.text, /Too many attempts/);
    assert.equal((await login(service, { username: user.username, password })).status, 200);
  });

  test('registrations are limited', async () => {
    const metadata = { redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' };
    // The registration in `before`.
    const statuses = [201];
    for (let n = 0; n < 60; n++) statuses.push((await tryRegister(service, metadata)).status);
    assert.deepEqual([statuses.filter((status) => status === 201).length, statuses.at(-1)], [60, 429]);
    const refused = await tryRegister(service, metadata);
    assert.deepEqual([refused.body.code, /^\d+$/.test(refused.headers.get('retry-after') ?? '')], [155, true]);
  });
});
