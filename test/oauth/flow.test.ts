/** From a client's registration to its tokens, through the pages that a user sees. Reference: sign-in.md#authorization. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  agentUser,
  authorize,
  claimsOf,
  everything,
  issuerOf,
  redeem,
  refresh,
  register,
  resourceOf,
  signInFor,
  useToken,
} from '../support/oauth.ts';
import { type Service, sampledEngines } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import type { User } from '../support/users.ts';

for (const engine of sampledEngines())
  describe(engine, () => {
    let service: Service;
    let user: User;
    before(async () => {
      service = await sharedService(engine);
      user = await agentUser(service);
    });

    test('a client comes to a token that says who, for what and where', async () => {
      const { tokens, answer, client } = await signInFor(service, user);
      assert.deepEqual([answer.get('state'), answer.get('iss')], ['state-1', issuerOf(service)]);
      assert.deepEqual([tokens.token_type, tokens.expires_in, tokens.scope], ['Bearer', 3_600, everything.join(' ')]);
      const { iss, sub, aud, scope, client_id, exp, iat } = claimsOf(tokens.access_token);
      assert.deepEqual(
        [iss, sub, aud, scope, client_id, exp - iat],
        [issuerOf(service), user.id, resourceOf(service), everything.join(' '), client.client_id, 3_600],
      );
      assert.equal(JSON.parse(Buffer.from(tokens.access_token.split('.')[0] ?? '', 'base64url').toString()).alg, 'ES256');
      assert.equal(await useToken(service, tokens.access_token), 'valid');
    });

    test('what the user ticks is what the token says', async () => {
      const { tokens } = await signInFor(service, user, { granted: ['mcp:view', 'mcp:update'] });
      assert.equal(tokens.scope, 'mcp:view mcp:update');
      assert.equal(claimsOf(tokens.access_token).scope, 'mcp:view mcp:update');
    });

    test('a user cannot give rights that the user does not have, whatever is sent', async () => {
      const viewer = await agentUser(service, ['mcp:view']);
      const { tokens, consent } = await signInFor(service, viewer, { granted: everything });
      assert.equal(tokens.scope, 'mcp:view');
      assert.equal(consent.text.match(/value="mcp:[^"]*" disabled/g)?.length, 3);
    });

    test('nothing but what was asked for', async () => {
      const { tokens, consent } = await signInFor(service, user, {
        parameters: { scope: 'openid mcp:create mcp:view offline_access' },
        granted: everything,
      });
      assert.equal(tokens.scope, 'mcp:view mcp:create');
      assert.equal(consent.text.match(/name="permission"/g)?.length, 2);
      assert.ok(consent.text.indexOf('mcp:view') < consent.text.indexOf('mcp:create'));
    });

    test('a client that names no resource gets the system of its issuer', async () => {
      const { tokens } = await signInFor(service, user, { parameters: { resource: undefined } });
      assert.equal(claimsOf(tokens.access_token).aud, resourceOf(service));
    });

    for (const method of ['none', 'client_secret_basic', 'client_secret_post'])
      test(`a client of the method ${method}`, async () => {
        const client = await register(service, { token_endpoint_auth_method: method });
        assert.equal(client.client_secret !== undefined, method !== 'none');
        const { tokens } = await signInFor(service, user, { client });
        const next = await refresh(service, client, tokens.refresh_token);
        assert.equal(next.status, 200, next.text);
        if (method === 'none') return;
        const wrong = await refresh(service, { ...client, client_secret: 'wrong' }, next.body.refresh_token);
        assert.deepEqual([wrong.status, wrong.body.error], [401, 'invalid_client']);
      });

    for (const uri of ['http://localhost:4711/back', 'http://127.0.0.1:4711/back', 'cursor://some.place/back'])
      test(`a program on the device, at ${uri}`, async () => {
        const client = await register(service, { redirect_uris: [uri] });
        const { left, tokens } = await signInFor(service, user, { client });
        assert.ok(left.href.startsWith(`${uri}?`), left.href);
        assert.equal(await useToken(service, tokens.access_token), 'valid');
      });

    test('a program on the device may listen on another port than it said', async () => {
      const client = await register(service, { redirect_uris: ['http://127.0.0.1/back'] });
      const { left } = await authorize(service, user, { client, parameters: { redirect_uri: 'http://127.0.0.1:49152/back' } });
      assert.ok(left.href.startsWith('http://127.0.0.1:49152/back?'), left.href);
    });

    test('a signed-in user is asked for consent only, each time', async () => {
      const { browser, client } = await authorize(service, user);
      const again = await authorize(service, user, { browser, client });
      assert.ok(again.answer.get('code'));
      const other = await authorize(service, user, { browser });
      assert.equal((await redeem(service, other)).status, 200);
    });

    test('each consent is a connection of its own', async () => {
      const first = await signInFor(service, user);
      const second = await signInFor(service, user, { browser: first.browser, client: first.client });
      await refresh(service, first.client, first.tokens.refresh_token);
      const replay = await refresh(service, first.client, first.tokens.refresh_token);
      assert.equal(replay.body.error, 'invalid_grant');
      assert.equal(await useToken(service, second.tokens.access_token), 'valid');
      assert.equal((await refresh(service, first.client, second.tokens.refresh_token)).status, 200);
    });
  });
