/** A user who was blocked has to sign in again after being unblocked. Reference: sign-in.md#revocation. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { agentUser, authorize, redeem, refresh, signInFor, useToken } from '../support/oauth.ts';
import { type Service, sampledEngines } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { changeUser } from '../support/users.ts';

for (const engine of sampledEngines())
  describe(engine, () => {
    let service: Service;
    before(async () => {
      service = await sharedService(engine);
    });

    for (const [what, used] of [
      ['an access token', async ({ tokens }: Connection) => useToken(service, tokens.access_token)],
      ['a refresh token', async ({ client, tokens }: Connection) => refresh(service, client, tokens.refresh_token)],
    ] as const)
      test(`${what} that was used while its user was blocked has ended its connection`, async () => {
        const user = await agentUser(service);
        const connection = await signInFor(service, user);
        await changeUser(service, user, { active: false });
        await used(connection);
        await changeUser(service, user, { active: true });
        const { client, tokens } = connection;
        assert.equal(await useToken(service, tokens.access_token), 'ended');
        const { status, body } = await refresh(service, client, tokens.refresh_token);
        assert.deepEqual([status, body.error], [400, 'invalid_grant']);
        assert.equal(await useToken(service, (await signInFor(service, user)).tokens.access_token), 'valid');
      });

    test('a code that was sent while its user was blocked is good no more', async () => {
      const user = await agentUser(service);
      const authorized = await authorize(service, user);
      await changeUser(service, user, { active: false });
      assert.equal((await redeem(service, authorized)).body.error, 'invalid_grant');
      await changeUser(service, user, { active: true });
      assert.equal((await redeem(service, authorized)).body.error, 'invalid_grant');
    });
  });

type Connection = Awaited<ReturnType<typeof signInFor>>;
