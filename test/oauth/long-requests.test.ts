/** An authorization request is stored until its user has signed in, so its size is limited. Reference: sign-in.md#authorization. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizeUrl, pkce, register } from '../support/oauth.ts';
import { sampledEngines } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';

for (const engine of sampledEngines())
  test(`a long state, a long address: ${engine}`, async () => {
    const service = await sharedService(engine);
    const client = await register(service);
    const parameters = { code_challenge: pkce().challenge, code_challenge_method: 'S256' };
    const ask = (more: Record<string, string>) =>
      fetch(authorizeUrl(service, client, { ...parameters, ...more }), { redirect: 'manual' });
    const usual = await ask({ state: 's'.repeat(2_000) });
    assert.equal(usual.status, 303);
    assert.match(usual.headers.get('location') ?? '', /\/interaction\//);
    const long = new URL((await ask({ state: 's'.repeat(3_000) })).headers.get('location') ?? '');
    assert.deepEqual([long.origin, long.searchParams.get('error')], ['https://client.test', 'invalid_request']);
    const address = await ask({ login_hint: 'x'.repeat(8_200) });
    assert.equal(address.status, 400);
    assert.match(await address.text(), /invalid_request/);
  });
