/** The official client signs in by itself (RFC 9728, 8414, 7591, 7636, 8707), and recovers when its tokens have ended. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { UnauthorizedError } from '@modelcontextprotocol/client';
import { agentUser, askEndpoint, everything, type Client as Registered, resourceOf } from '../support/oauth.ts';
import { anyEngine, type Service } from '../support/service.ts';
import { changeUser, denied, type User } from '../support/users.ts';
import { clockedService, jump } from './clocked.ts';
import { allow, ask, type Era, eras, type Program, program, signInAt } from './official-client.ts';

/** Permissions that the 403 requests, so that one consent is enough. */
const all = 'mcp:view mcp:create mcp:update mcp:edit-page-and-schema';
const reads = ['Get-Data', { table: 'Accounts', limit: 1 }] as const;
const deniedText = new RegExp(`^${denied('find', 'Accounts').error}`);

for (const engine of anyEngine)
  for (const era of eras)
    describe(`${engine}, ${JSON.stringify(era)}`, () => {
      let service: Service;
      let user: User;
      before(async () => {
        service = await clockedService();
        user = await agentUser(service);
      });
      const mcp = () => `/mcp/${service.appId}`;
      const oauth = () => `/oauth/${service.appId}`;

      test('it needs no user until a tool is called, then finds the system, registers, and comes to a token', async () => {
        const { kept, sent, connect } = program(service, era);
        const { client, transport } = await connect();
        assert.equal((await client.listTools()).tools.length, 67);
        assert.equal(kept.takePage(), undefined);
        sent();

        await assert.rejects(ask(client, ...reads), UnauthorizedError);
        assert.deepEqual(sent(), [
          `POST ${mcp()} 403`,
          `GET /.well-known/oauth-protected-resource${mcp()} 200`,
          `GET /.well-known/oauth-authorization-server${oauth()} 200`,
          `POST ${oauth()}/register 201`,
        ]);
        const page = kept.takePage() ?? assert.fail('the user was sent nowhere');
        const parameter = (name: string) => page.searchParams.get(name);
        assert.deepEqual([page.origin + page.pathname, parameter('scope')], [`${service.url}${oauth()}/authorize`, all]);
        assert.deepEqual([parameter('resource'), parameter('code_challenge_method')], [resourceOf(service), 'S256']);

        const answer = await allow(service, user, page);
        assert.equal(answer.get('state'), kept.state());
        await transport.finishAuth(answer);
        assert.deepEqual(sent(), [`POST ${oauth()}/token 200`]);
        assert.equal(kept.held?.scope, all);
        assert.deepEqual(await ask(client, ...reads), { results: [] });
        assert.deepEqual(sent(), [`POST ${mcp()} 200`]);
        await client.close();
      });

      test('what a tool writes is the user’s', async () => {
        const { client } = await signedIn(service, user, era, ['Create-Record', { table: 'Accounts', data: { Name: 'By key' } }]);
        const { objectId } = await ask(client, 'Create-Record', { table: 'Accounts', data: { Name: 'By the agent' } });
        const { body } = await service.call('GET', `/platform/classes/Accounts/${objectId}`);
        assert.deepEqual([body.Name, body.createdBy.objectId], ['By the agent', user.id]);
        await service.call('DELETE', `/platform/classes/Accounts/${objectId}`);
        await client.close();
      });

      test('when the hour is over it fetches a new token by itself', async () => {
        const { kept, sent, client } = await signedIn(service, user, era);
        const first = kept.held?.access_token;
        await jump(service);
        assert.deepEqual(await ask(client, ...reads), { results: [] });
        assert.deepEqual(withoutMetadata(sent()), [`POST ${mcp()} 401`, `POST ${oauth()}/token 200`, `POST ${mcp()} 200`]);
        assert.notEqual(kept.held?.access_token, first);
        assert.equal(kept.takePage(), undefined);
        assert.deepEqual(await ask(client, ...reads), { results: [] });
        assert.deepEqual(sent(), [`POST ${mcp()} 200`]);
        await client.close();
      });

      test('when its tokens were revoked it asks the user again, and goes on as the client that it was', async () => {
        const { kept, sent, client, transport } = await signedIn(service, user, era);
        const { kept: otherKept, client: other } = await signedIn(service, user, era);
        const registered = kept.information as Registered;
        await askEndpoint(service, 'revoke', registered, { token: kept.held?.refresh_token ?? '' });
        sent();
        await assert.rejects(ask(client, ...reads), UnauthorizedError);
        assert.deepEqual(withoutMetadata(sent()), [`POST ${mcp()} 401`, `POST ${oauth()}/token 400`]);
        await transport.finishAuth(await allow(service, user, kept.takePage() ?? assert.fail()));
        assert.deepEqual(await ask(client, ...reads), { results: [] });
        assert.equal(kept.information?.client_id, registered.client_id);
        // Another program of the user is not affected.
        assert.deepEqual(await ask(other, ...reads), { results: [] });
        assert.equal(otherKept.takePage(), undefined);
        for (const each of [client, other]) await each.close();
      });

      test('permissions that are withdrawn, and given back, count at the next call', async () => {
        const who = await agentUser(service);
        const { kept, client } = await signedIn(service, who, era);
        for (const [mcpPermissions, isAllowed] of [
          [[], false],
          [['mcp:create'], false],
          [['mcp:view'], true],
          [null, false],
          [everything, true],
        ] as const) {
          await changeUser(service, who, { mcpPermissions: mcpPermissions ?? { __op: 'Delete' } });
          const answer = await ask(client, ...reads);
          if (isAllowed) assert.deepEqual(answer, { results: [] });
          else assert.match(answer, deniedText);
        }
        assert.equal(kept.takePage(), undefined);
        await client.close();
      });

      test('a system that is closed to agents of users refuses all of them until it is opened', async () => {
        const { kept, client } = await signedIn(service, user, era);
        const made = await service.call('POST', '/platform/classes/Config', {
          body: { Name: 'McpSignIn', Value: { McpSignIn: false } },
        });
        assert.match(await ask(client, ...reads), deniedText);
        await service.call('DELETE', `/platform/classes/Config/${made.body.objectId}`);
        assert.deepEqual(await ask(client, ...reads), { results: [] });
        assert.equal(kept.takePage(), undefined);
        await client.close();
      });

      test('a user who is blocked is out at once, and cannot sign in again', async () => {
        const who = await agentUser(service);
        const { kept, sent, client } = await signedIn(service, who, era);
        await changeUser(service, who, { active: false });
        await assert.rejects(ask(client, ...reads), UnauthorizedError);
        assert.deepEqual(withoutMetadata(sent()), [`POST ${mcp()} 401`, `POST ${oauth()}/token 400`]);
        const { shown } = await signInAt(service, who, kept.takePage() ?? assert.fail());
        assert.match(shown.text, /This user is not active/);
        await client.close();
      });
    });

/** Returns a program whose user has signed in after a tool required it. */
async function signedIn(service: Service, user: User, era: Era, call: readonly [string, Record<string, unknown>] = reads) {
  const made: Program = program(service, era);
  const { client, transport } = await made.connect();
  await assert.rejects(ask(client, ...call), UnauthorizedError);
  await transport.finishAuth(await allow(service, user, made.kept.takePage() ?? assert.fail('the user was sent nowhere')));
  made.sent();
  return { ...made, client, transport };
}

/** Filters out reads of metadata, which a program may repeat. */
const withoutMetadata = (requests: readonly string[]) => requests.filter((one) => !one.includes('/.well-known/'));
