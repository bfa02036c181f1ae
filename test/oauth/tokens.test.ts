/** Tokens: rotation, replay, revocation (RFC 6749, 7009, 9700), and changes of their user. Reference: sign-in.md#tokens. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  agentUser,
  askEndpoint,
  askToken,
  authorize,
  type Client,
  claimsOf,
  type Flow,
  issuerOf,
  redeem,
  redirectUri,
  refresh,
  register,
  replyOf,
  signInFor,
  useToken,
} from '../support/oauth.ts';
import { type Service, sampledEngines } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { changeUser, otherPassword, type User } from '../support/users.ts';

const invalidGrant = [400, 'invalid_grant'];

for (const engine of sampledEngines())
  describe(engine, () => {
    let service: Service;
    let user: User;
    // One client for all, since registrations are limited; each sign-in is a separate connection.
    let program: Client;
    before(async () => {
      service = await sharedService(engine);
      user = await agentUser(service);
      program = await register(service);
    });
    const signIn = (who = user, flow: Flow = {}) => signInFor(service, who, { client: program, ...flow });
    const begin = (who = user) => authorize(service, who, { client: program });
    const outcome = ({ status, body }: { status: number; body: any }) => [status, body?.error];

    test('a refresh makes another pair, whose access token is good as the one before', async () => {
      const { client, tokens } = await signIn(user, { granted: ['mcp:view', 'mcp:create'] });
      const next = await refresh(service, client, tokens.refresh_token);
      assert.equal(next.status, 200, next.text);
      assert.notEqual(next.body.refresh_token, tokens.refresh_token);
      assert.equal(next.body.scope, 'mcp:view mcp:create');
      for (const token of [tokens.access_token, next.body.access_token]) assert.equal(await useToken(service, token), 'valid');
      const less = await refresh(service, client, next.body.refresh_token, { scope: 'mcp:view' });
      assert.equal(claimsOf(less.body.access_token).scope, 'mcp:view');
      const more = await refresh(service, client, less.body.refresh_token, { scope: 'mcp:view mcp:update' });
      assert.deepEqual(outcome(more), [400, 'invalid_scope']);
    });

    test('an old refresh token revokes all that came of its consent, access tokens too', async () => {
      const { client, tokens } = await signIn();
      const next = await refresh(service, client, tokens.refresh_token);
      assert.deepEqual(outcome(await refresh(service, client, tokens.refresh_token)), invalidGrant);
      assert.deepEqual(outcome(await refresh(service, client, next.body.refresh_token)), invalidGrant);
      for (const token of [tokens.access_token, next.body.access_token]) assert.equal(await useToken(service, token), 'ended');
    });

    test('of refreshes at a time one at the most is answered, and nothing is left of the consent', async () => {
      const { client, tokens } = await signIn();
      const replies = await Promise.all(Array.from({ length: 4 }, () => refresh(service, client, tokens.refresh_token)));
      const good = replies.filter(({ status }) => status === 200);
      assert.ok(good.length <= 1, `${good.length}`);
      for (const reply of replies) if (reply.status !== 200) assert.deepEqual(outcome(reply), invalidGrant);
      for (const { body } of good) {
        assert.equal(await useToken(service, body.access_token), 'ended');
        assert.deepEqual(outcome(await refresh(service, client, body.refresh_token)), invalidGrant);
      }
      assert.equal(await useToken(service, tokens.access_token), 'ended');
    });

    test('a code is good once; its second use revokes what the first one got', async () => {
      const authorized = await begin();
      const first = await redeem(service, authorized);
      assert.equal(first.status, 200, first.text);
      assert.deepEqual(outcome(await redeem(service, authorized)), invalidGrant);
      assert.equal(await useToken(service, first.body.access_token), 'ended');
      assert.deepEqual(outcome(await refresh(service, authorized.client, first.body.refresh_token)), invalidGrant);
    });

    test('a code is good with its own verifier, redirect and client alone', async () => {
      const authorized = await begin();
      const fields = { grant_type: 'authorization_code', code: authorized.answer.get('code') ?? '', redirect_uri: redirectUri };
      const { client, verifier } = authorized;
      const ask = (more: object, who = client) => askToken(service, who, { ...fields, ...more });
      assert.deepEqual(outcome(await ask({})), invalidGrant);
      assert.deepEqual(outcome(await ask({ code_verifier: 'x'.repeat(43) })), invalidGrant);
      assert.deepEqual(outcome(await ask({ code_verifier: verifier, redirect_uri: 'https://other.test/' })), invalidGrant);
      assert.deepEqual(outcome(await ask({ code_verifier: verifier }, await register(service))), invalidGrant);
      const foreign = await ask({ code_verifier: verifier, resource: 'https://other.test/mcp' });
      assert.deepEqual(outcome(foreign), [400, 'invalid_target']);
    });

    test('another client has no use of a refresh token', async () => {
      const { client, tokens } = await signIn();
      assert.deepEqual(outcome(await refresh(service, await register(service), tokens.refresh_token)), invalidGrant);
      assert.equal((await refresh(service, client, tokens.refresh_token)).status, 200);
    });

    for (const kind of ['refresh_token', 'access_token'] as const)
      for (const hint of [undefined, 'refresh_token', 'access_token'])
        test(`revocation of the ${kind}, said to be ${hint ?? 'nothing'}, ends the whole connection`, async () => {
          const { client, tokens } = await signIn();
          const fields = { token: tokens[kind], ...(hint && { token_type_hint: hint }) };
          const reply = await askEndpoint(service, 'revoke', client, fields);
          assert.deepEqual([reply.status, reply.text], [200, '']);
          assert.equal(await useToken(service, tokens.access_token), 'ended');
          assert.deepEqual(outcome(await refresh(service, client, tokens.refresh_token)), invalidGrant);
          assert.equal((await askEndpoint(service, 'revoke', client, fields)).status, 200);
        });

    test('a client revokes no tokens of another, and learns nothing of them', async () => {
      const { client, tokens } = await signIn();
      const other = await register(service);
      for (const token of [tokens.refresh_token, tokens.access_token, 'no-token', 'a.b.c']) {
        const reply = await askEndpoint(service, 'revoke', other, { token });
        assert.deepEqual([reply.status, reply.text], [200, ''], token);
      }
      const nobody = await askEndpoint(service, 'revoke', { client_id: 'nobody' }, { token: tokens.access_token });
      assert.deepEqual(outcome(nobody), [401, 'invalid_client']);
      assert.equal(await useToken(service, tokens.access_token), 'valid');
      assert.equal((await refresh(service, client, tokens.refresh_token)).status, 200);
    });

    test('what was never signed here, or was changed, is unknown', async () => {
      const { tokens } = await signIn();
      const [head = '', body = '', signature = ''] = tokens.access_token.split('.');
      const claims = JSON.stringify({ ...claimsOf(tokens.access_token), sub: 'master' });
      const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
      for (const token of [
        ...['nothing', 'a.b.c', `${head}.${body}.`, `${none}.${body}.`, tokens.refresh_token],
        `${head}.${Buffer.from(claims).toString('base64url')}.${signature}`,
      ])
        assert.equal(await useToken(service, token), 'unknown', token);
    });

    test('refresh tokens of a user who is blocked or removed end', async () => {
      for (const end of [
        (who: User) => changeUser(service, who, { active: false }),
        (who: User) => service.call('DELETE', `/platform/users/${who.id}`),
      ]) {
        const who = await agentUser(service);
        const { client, tokens } = await signIn(who);
        await end(who);
        assert.deepEqual(outcome(await refresh(service, client, tokens.refresh_token)), invalidGrant);
        assert.notEqual(await useToken(service, tokens.access_token), 'valid');
      }
    });

    test('a new password ends access and refresh tokens, and codes that are under way; a new sign-in goes on', async () => {
      const who = await agentUser(service);
      const { client, tokens } = await signIn(who);
      const authorized = await begin(who);
      await changeUser(service, who, { name: 'Other' });
      assert.equal(await useToken(service, tokens.access_token), 'valid', 'another change of the user');
      await changeUser(service, who, { password: otherPassword });
      assert.equal(await useToken(service, tokens.access_token), 'ended');
      assert.deepEqual(outcome(await refresh(service, client, tokens.refresh_token)), invalidGrant);
      assert.deepEqual(outcome(await redeem(service, authorized)), invalidGrant);
      const again = (await signIn(who, { secret: otherPassword })).tokens;
      const refreshed = await refresh(service, client, again.refresh_token);
      for (const token of [again.access_token, refreshed.body.access_token])
        assert.equal(await useToken(service, token), 'valid');
    });

    test('the keys that verify the tokens are public, and nothing else of them is', async () => {
      const { body } = await replyOf(await fetch(`${issuerOf(service)}/jwks`));
      assert.deepEqual(
        body.keys.map((key: object) => Object.keys(key).sort()),
        [['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']],
      );
    });
  });
