/** How long a browser is signed in (docs/decisions.md "Sign-in for agents"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentUser, authorizeUrl, pkce, signInFor } from '../support/oauth.ts';
import { startService } from '../support/service.ts';
import { clockAhead, jumpClock } from '../support/users.ts';

/** Two of these are more than the twelve hours, one is not. */
const JUMP = 7 * 3_600_000;

test('a browser is signed in for twelve hours from the password on, however often it comes by', async () => {
  const service = await startService({ env: clockAhead(0, JUMP) });
  try {
    const user = await agentUser(service);
    const { client, browser } = await signInFor(service, user);
    const come = () =>
      browser.get(authorizeUrl(service, client, { code_challenge: pkce().challenge, code_challenge_method: 'S256' }));
    await jumpClock(service, JUMP);
    assert.match((await come()).text, /value="allow"/);
    // Through the consent too, which makes the session another id.
    await signInFor(service, user, { client, browser });
    await jumpClock(service, JUMP);
    assert.match((await come()).text, /name="password"/);
    // The password begins another twelve hours.
    await signInFor(service, user, { client, browser });
    await jumpClock(service, JUMP);
    assert.match((await come()).text, /value="allow"/);
  } finally {
    await service.stop();
  }
});
