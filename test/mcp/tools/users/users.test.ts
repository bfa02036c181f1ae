/** Reference: tools.md#create-or-update-user, tools.md#get-all-users, tools.md#set-user-mcp-permissions, system-tables.md#_user. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bearerHeaders, callTool } from '../../../support/mcp.ts';
import { signInFor } from '../../../support/oauth.ts';
import type { Json } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { isAlive, login, newName, otherPassword, password, setRole, signUp } from '../../../support/users.ts';
import { byKey, byUser, openAdvanced } from '../callers.ts';
import { useSecondStore } from '../second.ts';
import { permit } from '../tables.ts';

for (const engine of sampledEngines())
  describe(`Create-or-Update-User, Get-all-Users, Set-User-MCP-Permissions on ${engine}`, () => {
    const store = useSecondStore(engine);
    const tools = byKey(store);
    const read = async (id: string): Promise<Json> => (await store.call('GET', `/platform/users/${id}`)).body;

    test('a user is created, without a session, and signs in', async () => {
      const username = newName();
      const fields = {
        username,
        name: 'Dana',
        email: `${username}@example.com`,
        phone: '050',
        extension: '7',
        job: 'Clerk',
        language: 'he',
      };
      const answer = await tools.use('Create-or-Update-User', { ...fields, password, active: true, isPortalUser: false });
      assert.deepEqual(Object.keys(answer).sort(), ['createdAt', 'hint', 'objectId']);
      const user = await read(answer.objectId);
      for (const [name, value] of Object.entries({ ...fields, active: true, isPortalUser: false }))
        assert.equal(user[name], value, name);
      const sessions = (await store.call('GET', '/platform/sessions', { query: { limit: 1_000 } })).body.results;
      assert.ok(!sessions.some((session: Json) => session.user.objectId === answer.objectId));
      assert.equal((await login(store, { username, password })).status, 200);
    });

    test('a user is changed; active=false blocks the user and ends the sessions; a new password too', async () => {
      const user = await signUp(store);
      const change = (fields: object) => tools.use('Create-or-Update-User', { objectId: user.id, ...fields });
      const answer = await change({ name: 'New', email: `${user.username}@example.com` });
      assert.deepEqual(answer.changed, ['name', 'email']);
      assert.equal((await read(user.id)).updatedAt, answer.updatedAt);
      await change({ email: '' });
      assert.equal((await read(user.id)).email, '');
      assert.equal(await isAlive(store, user.token), true);
      await change({ active: false });
      assert.equal(await isAlive(store, user.token), false);
      assert.equal((await login(store, { username: user.username, password })).body.error, 'User is not active.');
      const changed = await change({ active: true, password: otherPassword });
      assert.ok(!JSON.stringify(changed).includes(otherPassword));
      assert.equal((await login(store, { username: user.username, password: otherPassword })).status, 200);
    });

    test('what is refused, without a word of the password', async () => {
      const { username, id } = await signUp(store, { email: `${newName()}@example.com` });
      const { email } = await read(id);
      const cases: [object, number, RegExp][] = [
        [{ username, password }, 202, /^Account already exists for this username\..*Get-all-Users/],
        [{ username: newName(), password, email }, 203, /Account already exists for this email address/],
        [{ username: newName(), password: 'weakling' }, 142, /^Password does not meet.*lower-case/],
        [{ password }, 200, /^bad or missing username/],
        [{ username: newName() }, 201, /^password is required/],
        [{ username: newName(), password, email: 'none' }, 125, /E?mail address format/],
        [{ objectId: 'nobodynone', name: 'x' }, 101, /^Object not found/],
        [{ objectId: id }, 107, /nothing is to be changed/],
        [{ objectId: id, active: 'no' }, 107, /active must be of type boolean/],
        [{ objectId: id, ACL: {} }, 107, /ACL is unknown/],
      ];
      for (const [args, code, text] of cases) {
        await tools.refused('Create-or-Update-User', args, code, text);
        const answer = await tools.call('Create-or-Update-User', args);
        assert.ok(!answer.text.includes('weakling') && !answer.text.includes(password), answer.text);
      }
    });

    test('the first 100 users in the order of creation, with the roles that hold them', async () => {
      const user = await signUp(store, { name: 'With roles' });
      await setRole(store, user.id, 'Sales');
      await setRole(store, user.id, 'Admin');
      const before = await tools.use('Get-all-Users');
      assert.equal(before.hint, undefined);
      const shown = before.results.find(({ objectId }: Json) => objectId === user.id);
      assert.deepEqual(shown, {
        objectId: user.id,
        name: 'With roles',
        username: user.username,
        active: true,
        roles: ['Admin', 'Sales'],
      });
      const many = Array.from({ length: 101 - before.results.length }, () => ({
        method: 'POST',
        path: '/platform/users',
        body: { username: newName(), password, active: false },
      }));
      await store.call('POST', '/platform/batch', { body: { requests: many } });
      const { results, hint } = await tools.use('Get-all-Users');
      const all = (await store.call('GET', '/platform/users', { query: { limit: 100 } })).body.results;
      assert.deepEqual(
        results.map(({ objectId }: Json) => objectId),
        all.map(({ objectId }: Json) => objectId),
      );
      assert.match(hint, /more users/);
      assert.equal(results.at(-1).active, false);
      await tools.refused('Get-all-Users', { limit: 5 }, 107, /limit is unknown/);
    });

    test('MCP permissions are replaced and count at the next call', async () => {
      const user = await signUp(store, { mcpPermissions: ['mcp:view'] });
      await setRole(store, user.id, 'Sales');
      const { tokens } = await signInFor(store.service(), user);
      const ask = () => callTool(store.service(), bearerHeaders(tokens.access_token), 'Get-all-Users');
      assert.equal((await ask()).isError, false);
      const set = (permissions: readonly string[]) => tools.use('Set-User-MCP-Permissions', { userId: user.id, permissions });
      assert.deepEqual((await set([])).mcpPermissions, []);
      assert.match((await ask()).text, /^Permission denied for action find on class _User .*mcp:view/);
      assert.deepEqual((await set(['mcp:view', 'mcp:update', 'mcp:view'])).mcpPermissions, ['mcp:view', 'mcp:update']);
      assert.deepEqual((await read(user.id)).mcpPermissions, ['mcp:view', 'mcp:update']);
      assert.equal((await ask()).isError, false);
      await tools.refused(
        'Set-User-MCP-Permissions',
        { userId: user.id, permissions: ['mcp:delete'] },
        107,
        /mcp:edit-page-and-schema/,
      );
      await tools.refused('Set-User-MCP-Permissions', { userId: 'nobodynone', permissions: [] }, 101);
      await tools.refused('Set-User-MCP-Permissions', { userId: user.id }, 107, /permissions is required/);
    });

    test('who signed in administers users once advanced tools are open, and no other user', async (t) => {
      const admin = await byUser(store, ['Admin']);
      await admin.refused('Create-or-Update-User', { username: newName(), password }, 119, /McpAdvancedTools/);
      await openAdvanced(t, store);
      // Fields that are created on first write are created for this caller too.
      await store.call('PUT', '/platform/schemas/_User', { body: { fields: { job: { __op: 'Delete' } } } });
      assert.equal((await store.fields('_User')).job, undefined);
      const username = newName();
      const { objectId } = await admin.use('Create-or-Update-User', { username, password, job: 'Clerk' });
      const { createdBy, job } = await read(objectId);
      assert.deepEqual([createdBy.objectId, job], [admin.id, 'Clerk']);
      await admin.use('Create-or-Update-User', { objectId, active: false });
      assert.equal((await login(store, { username, password })).body.error, 'User is not active.');
      await admin.use('Set-User-MCP-Permissions', { userId: objectId, permissions: ['mcp:view'] });
      assert.equal((await read(objectId)).updatedBy.objectId, admin.id);
      const seller = await byUser(store, ['Sales']);
      await seller.refused('Create-or-Update-User', { objectId, active: true }, 119, /role Admin/);
      await seller.refused('Set-User-MCP-Permissions', { userId: seller.id, permissions: [] }, 119, /role Admin/);
      const nobody = await byUser(store, []);
      await nobody.refused('Get-all-Users', {}, 119, /^Permission denied for action find on class _User/);
      // Class-level permissions apply to administrators too.
      const { body } = await store.call('GET', '/platform/schemas/_User');
      const { classLevelPermissions } = body;
      const closed = { ...classLevelPermissions, update: {} };
      t.after(() => permit(store, '_User', classLevelPermissions));
      await permit(store, '_User', closed);
      await admin.refused(
        'Create-or-Update-User',
        { objectId, active: true },
        119,
        /^Permission denied for action update on class _User/,
      );
    });
  });
