/** Reference: tools.md#get-roles, tools.md#set-user-roles, tools.md#get-my-access, tools.md#notify-user. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { masterHeaders, rpc, useTool } from '../../../support/mcp.ts';
import { type Json, pointer } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { newRole, setRole, signUp } from '../../../support/users.ts';
import { byKey, byUser, openAdvanced } from '../callers.ts';
import { useSecondStore } from '../second.ts';

for (const engine of sampledEngines())
  describe(`Get-Roles, Set-User-Roles, Get-My-Access, Notify-User on ${engine}`, () => {
    const store = useSecondStore(engine);
    const tools = byKey(store);
    const rolesOf = async (userId: string): Promise<string[]> => {
      const { body } = await store.call('GET', '/platform/roles', { query: { where: { users: pointer('_User', userId) } } });
      return body.results.map(({ name }: Json) => name).sort();
    };

    test('roles, their members and what each may do', async () => {
      const user = await signUp(store, { name: 'Member' });
      const above = await newRole(store);
      const role = await newRole(store, [user]);
      await store.update('_Role', above.id, { roles: { __op: 'AddRelation', objects: [pointer('_Role', role.id)] } });
      const table = await store.table({ Name: 'String' });
      const rules = { find: { [`role:${role.name}`]: true }, get: { [`role:${role.name}`]: true }, create: { '*': true } };
      await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: rules } });
      const { results, everybodyWhoSignedIn } = await tools.use('Get-Roles', { role: role.name });
      assert.deepEqual(results, [
        {
          objectId: role.id,
          name: role.name,
          members: [{ objectId: user.id, name: 'Member' }],
          alsoHasRightsOf: [above.name],
          rights: { 'find get': [table] },
        },
      ]);
      assert.deepEqual(everybodyWhoSignedIn, { create: [table] });
      const all = await tools.use('Get-Roles');
      const names = all.results.map(({ name }: Json) => name);
      for (const name of ['Admin', 'Finance', 'Marketing', 'ReadOnly', 'Sales', 'Service', role.name])
        assert.ok(names.includes(name), name);
      const sales = all.results.find(({ name }: Json) => name === 'Sales');
      assert.ok(sales.rights['find get create update delete'].includes('Accounts'));
      assert.ok(!Object.values(sales.rights).flat().includes('_StoredFile'));
      await tools.refused('Get-Roles', { role: 'Nobody' }, 107, /there is no role Nobody.*Sales/);
      const nobody = await byUser(store, [], ['mcp:view']);
      await nobody.refused('Get-Roles', {}, 119, /^Permission denied for action find on class _Role/);
      const seller = await byUser(store, ['Sales'], ['mcp:view']);
      const seen = (await seller.use('Get-Roles', { role: 'Admin' })).results[0];
      assert.ok(!Object.values(seen.rights).flat().includes('Config'), 'hidden tables are not mentioned');
    });

    test('the roles of a user are replaced, all at once', async () => {
      const { id } = await signUp(store);
      const set = (roles: readonly string[]): Promise<Json> => tools.use('Set-User-Roles', { userId: id, roles });
      const first = await set(['Sales', 'Service', 'Sales']);
      assert.deepEqual(first, { objectId: id, roles: ['Sales', 'Service'], added: ['Sales', 'Service'], removed: [] });
      assert.deepEqual(await rolesOf(id), ['Sales', 'Service']);
      const second = await set(['Service', 'Finance']);
      assert.deepEqual([second.added, second.removed], [['Finance'], ['Sales']]);
      assert.deepEqual(await rolesOf(id), ['Finance', 'Service']);
      const same = await set(['Service', 'Finance']);
      assert.deepEqual([same.added, same.removed], [[], []]);
      await tools.refused('Set-User-Roles', { userId: id, roles: ['Sales', 'Boss'] }, 107, /no role Boss.*Admin, Finance/);
      assert.deepEqual(await rolesOf(id), ['Finance', 'Service']);
      const named = await set(['role:Service', 'Service', 'role:Finance']);
      assert.deepEqual([named.roles, named.added], [['Service', 'Finance'], []], 'names as permissions write them');
      await tools.refused('Set-User-Roles', { userId: id, roles: ['role:Boss'] }, 107, /no role Boss/);
      assert.deepEqual((await set([])).removed, ['Finance', 'Service']);
      assert.deepEqual(await rolesOf(id), []);
      await tools.refused('Set-User-Roles', { userId: 'nobodynone', roles: [] }, 101, /^Object not found/);
      await tools.refused('Set-User-Roles', { userId: id }, 107, /roles is required/);
    });

    test('the last administrator stays one', async () => {
      const { body } = await store.call('GET', '/platform/users', { query: { order: 'createdAt', limit: 1 } });
      const [first] = body.results;
      const members = (await tools.use('Get-Roles', { role: 'Admin' })).results[0].members;
      for (const { objectId } of members)
        if (objectId !== first.objectId) await tools.use('Set-User-Roles', { userId: objectId, roles: [] });
      await setRole(store, first.objectId, 'Admin');
      const off = await signUp(store, { active: false });
      await setRole(store, off.id, 'Admin');
      await tools.refused('Set-User-Roles', { userId: first.objectId, roles: ['Sales'] }, 107, /last active member of Admin/);
      assert.deepEqual(await rolesOf(first.objectId), ['Admin']);
      const blocked = { objectId: first.objectId, active: false };
      await tools.refused('Create-or-Update-User', blocked, 107, /last active member of Admin.*Next: Get-Roles/);
      assert.notEqual((await store.read('_User', first.objectId)).active, false);
      await tools.use('Create-or-Update-User', { objectId: off.id, active: false });
      await tools.use('Create-or-Update-User', { objectId: first.objectId, active: true, job: 'x' });
      const other = await signUp(store);
      await tools.use('Set-User-Roles', { userId: other.id, roles: ['Admin'] });
      await tools.use('Create-or-Update-User', blocked);
      await tools.use('Create-or-Update-User', { ...blocked, active: true });
      assert.deepEqual((await tools.use('Set-User-Roles', { userId: first.objectId, roles: [] })).removed, ['Admin']);
    });

    test('of administrators who are taken out at the same time one stays', async () => {
      const admins = (await tools.use('Get-Roles', { role: 'Admin' })).results[0].members;
      const [one, other] = [await signUp(store), await signUp(store)];
      for (const { id } of [one, other]) await tools.use('Set-User-Roles', { userId: id, roles: ['Admin'] });
      for (const { objectId } of admins) await tools.use('Set-User-Roles', { userId: objectId, roles: [] });
      const takeOut = ({ id }: { id: string }) => tools.call('Set-User-Roles', { userId: id, roles: [] });
      const block = ({ id }: { id: string }) => tools.call('Create-or-Update-User', { objectId: id, active: false });
      const admin = (await tools.use('Get-Roles', { role: 'Admin' })).results[0].objectId;
      const update = ({ id }: { id: string }) =>
        tools.call('Update-Record', { table: '_User', objectId: id, data: { active: false } });
      const unlink = ({ id }: { id: string }) => {
        const users = { __op: 'RemoveRelation', objects: [pointer('_User', id)] };
        return tools.call('Update-Record', { table: '_Role', objectId: admin, data: { users } });
      };
      const ways = [takeOut, block, update, unlink];
      for (const [first, second] of ways.flatMap((way) => ways.map((another) => [way, another] as const))) {
        for (const { id } of [one, other]) {
          await tools.use('Create-or-Update-User', { objectId: id, active: true });
          await tools.use('Set-User-Roles', { userId: id, roles: ['Admin'] });
        }
        const answers = await Promise.all([first(one), second(other)]);
        const refused = answers.filter(({ isError }) => isError);
        assert.equal(refused.length, 1, answers.map(({ text }) => text).join());
        assert.match(refused[0]?.text ?? '', /last active member of Admin/);
      }
      const both = [one, other].map(({ id }) => pointer('_User', id));
      const step = { __op: 'RemoveRelation', objects: both };
      const forms = [null, { __op: 'Delete' }, step, { __op: 'Batch', ops: [step] }];
      for (const users of forms)
        await tools.refused('Update-Record', { table: '_Role', objectId: admin, data: { users } }, 107, /last active member/);
      assert.ok((await tools.use('Get-Roles', { role: 'Admin' })).results[0].members.length > 0);
      const { id } = await signUp(store);
      await tools.use('Update-Record', { table: '_User', objectId: id, data: { active: false } });
    });

    test('who the connection is, and what it may use', async (t) => {
      const service = store.service();
      const { body } = await rpc(service, {}, 'tools/list');
      const all: string[] = body.result.tools.map(({ name }: Json) => name);
      const key = await tools.use('Get-My-Access');
      assert.deepEqual([key.system.appId, key.caller.kind, key.tools, key.refused], [service.appId, 'API key', all, undefined]);
      const master = await useTool(service, masterHeaders(service), 'Get-My-Access');
      assert.equal(master.caller.kind, 'master key');
      const seller = await byUser(store, ['Sales'], ['mcp:view']);
      const { caller, roles, mcpPermissions, tools: usable, refused } = await seller.use('Get-My-Access');
      assert.deepEqual(
        [caller.objectId, caller.username, roles, mcpPermissions],
        [seller.id, seller.username, ['Sales'], ['mcp:view']],
      );
      assert.ok(usable.includes('Get-Data') && usable.includes('Get-My-Access') && !usable.includes('Create-Record'));
      assert.deepEqual([...usable, ...Object.values(refused).flat()].sort(), [...all].sort());
      const reasonFor = (tool: string) =>
        Object.entries(refused as Record<string, string[]>).find(([, names]) => names.includes(tool))?.[0];
      assert.match(reasonFor('Create-Record') ?? '', /mcp:create/);
      const nobody = await byUser(store, [], ['mcp:view']);
      await tools.use('Set-User-MCP-Permissions', { userId: nobody.id, permissions: [] });
      assert.deepEqual((await nobody.use('Get-My-Access')).tools, ['Get-My-Access']);
      const admin = await byUser(store, ['Admin']);
      assert.ok(
        (await admin.use('Get-My-Access')).refused['needs the row McpAdvancedTools of Config'].includes('Set-User-Roles'),
      );
      await openAdvanced(t, store);
      const open = await admin.use('Get-My-Access');
      assert.deepEqual([open.tools, open.advancedTools], [all, true]);
      await seller.refused('Set-User-Roles', { userId: seller.id, roles: ['Admin'] }, 119);
      await admin.use('Set-User-Roles', { userId: seller.id, roles: ['Sales', 'Service'] });
      assert.deepEqual((await seller.use('Get-My-Access')).roles, ['Sales', 'Service']);
    });

    test('notifications: one for each user, or none', async () => {
      const [a, b] = [await signUp(store), await signUp(store)];
      const account = await store.create('Accounts', { Name: 'about' });
      const all = () => store.all('_Notification');
      const { results } = await tools.use('Notify-User', {
        userIds: [a.id, b.id, a.id],
        content: 'שלום',
        icon: 'bell',
        table: 'Accounts',
        objectId: account,
      });
      assert.deepEqual(
        results.map(({ userId }: Json) => userId),
        [a.id, b.id],
      );
      const rows = (await all()).filter(({ objectId }) => results.some((made: Json) => made.objectId === objectId));
      for (const row of rows) {
        assert.deepEqual([row.Content, row.Icon, row.objectClass, row.objectIdValue], ['שלום', 'bell', 'Accounts', account]);
        assert.ok(Math.abs(Date.parse(row.Date.iso) - Date.now()) < 60_000);
      }
      assert.deepEqual(
        rows.map(({ User }) => User.objectId),
        [a.id, b.id],
      );
      const before = (await all()).length;
      const one = { userIds: [a.id], content: 'x' };
      const cases: [object, number, RegExp][] = [
        [{ ...one, userIds: [a.id, 'nobodynone'] }, 107, /no user nobodynone.*Get-all-Users/],
        [{ ...one, userIds: [] }, 107, /must not be empty/],
        [{ ...one, table: 'Accounts' }, 107, /go together/],
        [{ ...one, table: 'Accounts', objectId: 'nobodynone' }, 101, /^Object not found/],
        [{ ...one, table: 'NoSuchTable', objectId: account }, 103, /NoSuchTable/],
        [{ ...one, content: '' }, 107, /content must not be empty/],
        [{ userIds: [a.id] }, 107, /content is required/],
      ];
      for (const [args, code, text] of cases) await tools.refused('Notify-User', args, code, text);
      assert.equal((await all()).length, before);
      const seller = await byUser(store, ['Sales']);
      await seller.refused('Notify-User', one, 119, /^Permission denied for action create on class _Notification/);
      const admin = await byUser(store, ['Admin'], ['mcp:view', 'mcp:create']);
      const [made] = (await admin.use('Notify-User', one)).results;
      assert.equal((await store.read('_Notification', made.objectId)).createdBy.objectId, admin.id);
      const closed = await store.create('Accounts', { ACL: { nobody: { read: true } } });
      await admin.refused('Notify-User', { ...one, table: 'Accounts', objectId: closed }, 101);
    });
  });
