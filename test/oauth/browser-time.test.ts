/** How long a browser is signed in. Reference: sign-in.md#authorization. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentUser, authorizeUrl, pkce, signInFor } from '../support/oauth.ts';
import { clockedService, jump } from './clocked.ts';

test('a browser is signed in for twelve hours from the password on, however often it comes by', async () => {
  const service = await clockedService();
  const user = await agentUser(service);
  const { client, browser } = await signInFor(service, user);
  const come = () =>
    browser.get(authorizeUrl(service, client, { code_challenge: pkce().challenge, code_challenge_method: 'S256' }));
  await jump(service);
  assert.match((await come()).text, /value="allow"/);
  // The consent gives the session another id, but no other end.
  await signInFor(service, user, { client, browser });
  await jump(service);
  assert.match((await come()).text, /name="password"/);
  // The password begins another twelve hours.
  await signInFor(service, user, { client, browser });
  await jump(service);
  assert.match((await come()).text, /value="allow"/);
});
