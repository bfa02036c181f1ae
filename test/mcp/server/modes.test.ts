/** For whom the tools act, which rights follow from that, and what the audit records. Reference: agents.md#modes, authentication.md#agents. */
import assert from 'node:assert/strict';
import { before, describe, type TestContext, test } from 'node:test';
import { logOf } from '../../audit/log.ts';
import { rowOf, tracked } from '../../audit/rows.ts';
import { bearerHeaders, callTool, keyHeaders, masterHeaders, type ToolAnswer, useTool } from '../../support/mcp.ts';
import { type Permission, signInFor } from '../../support/oauth.ts';
import { type Json, master, pointer, storeOf, unique } from '../../support/records.ts';
import { anyEngine, type Service } from '../../support/service.ts';
import { sharedService } from '../../support/shared.ts';
import { soon } from '../../support/soon.ts';
import { changeUser, guardedTable, relate, signUp, type User } from '../../support/users.ts';

for (const engine of anyEngine)
  describe(`modes (${engine})`, () => {
    let service: Service;
    /** A table whose records every signed-in user may read and write. */
    let table: string;
    before(async () => {
      service = await sharedService(engine);
      table = await tracked(
        storeOf(() => service),
        { Name: { type: 'String' } },
      );
    });

    const signedIn = async (
      permissions: readonly Permission[],
      granted = permissions,
    ): Promise<[User, Record<string, string>]> => {
      const user = await signUp(service, { mcpPermissions: permissions });
      const { tokens } = await signInFor(service, user, { granted });
      return [user, bearerHeaders(tokens.access_token)];
    };
    const read = (headers: Record<string, string>) => callTool(service, headers, 'Get-Data', { table });
    const create = (headers: Record<string, string>) =>
      callTool(service, headers, 'Create-Record', { table, data: { Name: 'x' } });

    /** Asserts a refusal and the action and class it names. */
    const isDenied = (answer: ToolAnswer, action: string, className: string, why = /./) => {
      assert.equal(answer.status, 200, answer.text);
      assert.ok(answer.isError, answer.text);
      assert.ok(answer.text.startsWith(`Permission denied for action ${action} on class ${className}`), answer.text);
      assert.match(answer.text, why);
      assert.equal(answer.json.code, 119);
    };
    const isDone = (answer: ToolAnswer) => assert.ok(answer.status === 200 && !answer.isError, answer.text);
    const isEnded = (answer: ToolAnswer) => {
      assert.equal(answer.status, 401, answer.text);
      const metadata = `${service.url}/.well-known/oauth-protected-resource/mcp/${service.appId}`;
      assert.equal(answer.headers.get('www-authenticate'), `Bearer error="invalid_token", resource_metadata="${metadata}"`);
    };

    /** Creates a row of `Config` that is deleted when the test ends. */
    const setFlag = async (test: TestContext, Name: string, value: boolean): Promise<string> => {
      const { body, text } = await service.call('POST', '/platform/classes/Config', { body: { Name, Value: { [Name]: value } } });
      assert.ok(body?.objectId, text);
      test.after(() => removeFlag(body.objectId));
      return body.objectId;
    };
    const removeFlag = (id: string) => service.call('DELETE', `/platform/classes/Config/${id}`);
    const setAdmin = async (user: User, isAdmin: boolean) => {
      const { body } = await service.call('GET', '/platform/roles', { query: { where: { name: 'Admin' } } });
      const users = relate(isAdmin ? 'AddRelation' : 'RemoveRelation', '_User', [user.id]);
      const answer = await service.call('PUT', `/platform/roles/${body.results[0].objectId}`, { body: { users } });
      assert.equal(answer.status, 200, answer.text);
    };

    test('a user may do what the permissions, the grant and the roles give, and no more', async () => {
      const [, viewer] = await signedIn(['mcp:view']);
      isDone(await read(viewer));
      isDenied(await create(viewer), 'create', table, /takes mcp:create; mcp:create is not given.*Next: Get-My-Access\.$/);
      const [, narrowed] = await signedIn(['mcp:view', 'mcp:create'], ['mcp:view']);
      isDenied(await create(narrowed), 'create', table, /mcp:create is not given/);
      const [, writer] = await signedIn(['mcp:view', 'mcp:create']);
      isDone(await create(writer));
      const closed = await guardedTable(service, { find: { 'role:Sales': true } });
      isDenied(await callTool(service, writer, 'Get-Data', { table: closed }), 'find', closed);
    });

    test('what is taken from a user is gone at the next call', async () => {
      const [user, headers] = await signedIn(['mcp:view', 'mcp:create']);
      isDone(await create(headers));
      await changeUser(service, user, { mcpPermissions: ['mcp:view'] });
      isDenied(await create(headers), 'create', table);
      isDone(await read(headers));
      await changeUser(service, user, { mcpPermissions: [] });
      isDenied(await read(headers), 'find', table);
      await changeUser(service, user, { mcpPermissions: ['mcp:view'], active: false });
      isEnded(await read(headers));
      const [removed, reader] = await signedIn(['mcp:view']);
      isDone(await read(reader));
      assert.equal((await service.call('DELETE', `/platform/users/${removed.id}`)).status, 200);
      isEnded(await read(reader));
    });

    test('advanced tools take the permission, the role Admin and the switch of the system', async (t) => {
      const name = unique('Made');
      const make = (headers: Record<string, string>) => callTool(service, headers, 'Create-Table', { className: name });
      const [, viewer] = await signedIn(['mcp:view']);
      isDenied(await make(viewer), 'create', name, /mcp:edit-page-and-schema is not given/);
      const [user, editor] = await signedIn(['mcp:view', 'mcp:edit-page-and-schema']);
      isDenied(await make(editor), 'create', name, /the role Admin/);
      await setAdmin(user, true);
      isDenied(await make(editor), 'create', name, /McpAdvancedTools/);
      const flag = await setFlag(t, 'McpAdvancedTools', true);
      isDone(await make(editor));
      await removeFlag(flag);
      isDenied(await make(editor), 'create', name, /McpAdvancedTools/);
      await setAdmin(user, false);
      isDenied(await make(editor), 'create', name, /the role Admin/);
    });

    test('a system may close sign-in; keys are not touched by it', async (t) => {
      const [, headers] = await signedIn(['mcp:view']);
      isDone(await read(headers));
      const flag = await setFlag(t, 'McpSignIn', false);
      isDenied(await read(headers), 'find', table, /McpSignIn/);
      isDone(await read(keyHeaders(service)));
      await removeFlag(flag);
      isDone(await read(headers));
    });

    test('a key beside a token decides', async () => {
      const [, viewer] = await signedIn(['mcp:view']);
      isDone(await create({ ...viewer, ...keyHeaders(service) }));
      isDenied(await create({ ...viewer, 'X-Platform-API-Key': 'none' }), 'create', table);
    });

    test('keys need no permission, and the request log is theirs', async () => {
      for (const headers of [keyHeaders(service), masterHeaders(service)]) {
        isDone(await read(headers));
        isDone(await callTool(service, headers, 'Get-Request-Log', {}));
      }
    });

    test('the timeline names who acted, and no page', async () => {
      const [user, headers] = await signedIn(['mcp:view', 'mcp:create', 'mcp:update']);
      const callers: readonly (readonly [Record<string, string>, Json])[] = [
        [keyHeaders(service), master],
        [masterHeaders(service), master],
        [headers, pointer('_User', user.id)],
      ];
      for (const [caller, actor] of callers) {
        const sent = { ...caller, Referer: 'https://crm.example/page' };
        const { objectId } = await useTool(service, sent, 'Create-Record', { table, data: { Name: 'a' } });
        await useTool(service, sent, 'Update-Record', { table, objectId, data: { Name: 'b' } });
        for (const event of ['create', 'update']) {
          const row = await rowOf(service, { objectIdValue: objectId, event });
          assert.deepEqual(row.user, actor);
          assert.equal(row.Referer, undefined);
        }
      }
    });

    test('calls that may change something are logged, reads are not; without credentials', async () => {
      const userAgent = unique('agent-');
      const [user, headers] = await signedIn(['mcp:view', 'mcp:create']);
      const calls: readonly (readonly [Record<string, string>, Json, number, string])[] = [
        [keyHeaders(service), master, 200, table],
        [headers, pointer('_User', user.id), 200, table],
        [{ 'X-Platform-API-Key': 'wrong-key-of-some-length' }, undefined, 400, table],
        [{}, undefined, 403, table],
        [masterHeaders(service), master, 400, '1nvalid name'],
      ];
      for (const [credentials, , , className] of calls) {
        const sent = { ...credentials, 'User-Agent': userAgent };
        await callTool(service, sent, 'Get-Data', { table });
        await callTool(service, sent, 'Create-Record', { table: className, data: { Name: 'x' } });
      }
      let rows: Json[] = [];
      await soon(async () => {
        rows = await logOf(service, { userAgent });
        assert.equal(rows.length, calls.length);
      });
      for (const [at, [, actor, statusCode]] of calls.entries()) {
        const row = rows[at] as Json;
        assert.deepEqual([row.user, row.statusCode], [actor, statusCode], String(at));
        assert.deepEqual([row.path, row.method, row.service], [`/mcp/${service.appId}/Create-Record`, 'POST', 'mcp']);
        assert.ok(row.contentLength > 100 && row.duration >= 0);
      }
      const text = JSON.stringify(rows);
      for (const secret of [service.apiKey, service.masterKey, 'wrong-key-of-some-length', headers.Authorization?.slice(7) ?? ''])
        assert.ok(!text.includes(secret));
    });
  });
