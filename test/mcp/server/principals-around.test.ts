/** What users may not read or change stays closed to their agents whichever tool they use, although basic tools reach every table. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { callTool, masterHeaders, useTool } from '../../support/mcp.ts';
import { type Json, pointer, storeOf } from '../../support/records.ts';
import { type EngineName, type Service, sampledEngines } from '../../support/service.ts';
import { sharedService } from '../../support/shared.ts';
import { type Caller, people, signIn } from '../samples/callers.ts';
import { makeWorld, type World } from '../world.ts';

for (const engine of sampledEngines()) describe(`around the tools (${engine})`, () => suite(engine));

function suite(engine: EngineName): void {
  let service: Service;
  let world: World;
  /** An administrator with all four permissions; advanced tools are switched off. */
  let admin: Caller;
  let sales: Caller;
  before(async () => {
    service = await sharedService(engine);
    world = await makeWorld(storeOf(() => service));
    admin = await signIn(service, world, people.admin);
    sales = await signIn(service, world, people.sales);
  });

  const update = (table: string, objectId: string, data: Json) => ['Update-Record', { table, objectId, data }] as const;
  const create = (table: string, data: Json) => ['Create-Record', { table, data }] as const;
  const read = (table: string, args: Json = {}) => ['Get-Data', { table, ...args }] as const;

  async function refused(caller: Caller, [tool, args]: readonly [string, Json], code: number): Promise<void> {
    const answer = await callTool(service, caller.headers, tool, args);
    assert.ok(answer.isError, `${tool} ${JSON.stringify(args)}: ${answer.text}`);
    assert.equal(answer.json.code, code, answer.text);
  }

  test('no user gives permissions for agents to any user', async () => {
    const permissions = ['mcp:view', 'mcp:create', 'mcp:update', 'mcp:edit-page-and-schema'];
    for (const caller of [admin, sales])
      for (const id of [caller.actor, world.ids.user]) {
        await refused(caller, update('_User', id, { mcpPermissions: permissions }), 206);
        const updates = [{ objectId: id, data: { mcpPermissions: permissions } }];
        const { results } = await useTool(service, caller.headers, 'Update-Many', { table: '_User', updates });
        assert.equal(results[0].error.code, 206);
      }
    assert.deepEqual((await world.read('_User', world.ids.user)).mcpPermissions, []);
  });

  test('no agent of a user creates users', async () => {
    const user = { username: 'made-by-agent', password: 'Right1Pass' };
    for (const caller of [admin, sales]) await refused(caller, create('_User', user), 119);
    assert.deepEqual(await world.find('_User', { username: user.username }), []);
  });

  test('a role gives no more than before: Sales writes no flags, triggers, roles, labels and pages', async () => {
    const before = await world.all('Config');
    await refused(sales, create('Config', { Name: 'McpAdvancedTools', Value: { McpAdvancedTools: true } }), 119);
    await refused(sales, update('Config', before[0].objectId, { Name: 'x' }), 119);
    await refused(sales, create('_Trigger', { table: 'Accounts', events: ['create'], actions: [] }), 119);
    const users = { __op: 'AddRelation', objects: [pointer('_User', sales.actor)] };
    const [role] = await world.find('_Role', { name: 'Admin' });
    await refused(sales, update('_Role', role.objectId, { users }), 119);
    await refused(sales, create('_Dictionary', { tblName: 'Accounts', value: 'x' }), 119);
    await refused(sales, update('SitePages', '65f1a0c3d2e4b5a697882001', { Title: 'x' }), 119);
    await refused(sales, create('Accounts', { FieldOfAnAgent: 1 }), 119);
    await refused(sales, create('TableOfAnAgent', { Name: 'x' }), 119);
    assert.deepEqual(await world.all('Config'), before);
    assert.equal(await world.fields('TableOfAnAgent'), undefined);
  });

  test('logs are not written, and that of requests is not read', async () => {
    for (const caller of [admin, sales]) {
      await refused(caller, read('_RequestLog'), 119);
      await refused(caller, create('_Timeline', { event: 'create' }), 119);
      await refused(caller, create('_syslogTriggers', { event: 'create' }), 119);
    }
  });

  test('secrets and internal tables are closed, under keys too', async () => {
    const key = { headers: masterHeaders(service), actor: 'master' };
    for (const caller of [admin, sales, key]) {
      await refused(caller, read('_User', { keys: ['password'] }), 119);
      await refused(caller, read('_Session', { keys: ['sessionToken'] }), 119);
      for (const table of ['_OAuthItem', '_StoredFile', '_TriggerQueue', '_StorageUsage']) {
        await refused(caller, read(table), 119);
        await refused(caller, create(table, {}), 119);
      }
    }
    for (const caller of [admin, sales]) {
      const { results } = await useTool(service, caller.headers, 'Get-Data', { table: '_Session', limit: 2_000 });
      assert.deepEqual([...new Set(results.map(({ user }: Json) => user.objectId))], [caller.actor]);
    }
  });

  test('a flag inside the data silences nothing', async () => {
    const data = { Name: 'Loud', dontUpdatePlatformTimeline: true, dontRunPlatformTriggers: true };
    const args = { table: 'Accounts', data, skipTimeline: true, skipTriggers: true };
    for (const caller of [admin, sales]) {
      const { objectId } = await useTool(service, caller.headers, 'Create-Record', args);
      const [row] = await world.find('_Timeline', { objectIdValue: objectId, event: 'create' });
      assert.deepEqual([row?.user, row?.data], [pointer('_User', caller.actor), { Name: 'Loud' }]);
    }
  });

  test('what advanced tools write is closed to basic ones, though the role may write it over REST', async () => {
    const Value = { McpAdvancedTools: true };
    await refused(admin, create('Config', { Name: 'McpAdvancedTools', Value }), 119);
    await refused(admin, create('_Role', { name: 'Made by an agent' }), 119);
    await refused(admin, create('_Trigger', { Name: 'x', table: 'Accounts', events: ['create'], actions: [] }), 119);
    await refused(admin, create('_Dictionary', { tblName: 'Accounts', field: 'Name', value: 'x' }), 119);
    await refused(admin, update('SitePages', '65f1a0c3d2e4b5a697882001', { Title: 'x' }), 119);
    await refused(admin, create('Accounts', { Name: 'x', FieldOfAnAgent: 1 }), 119);
    assert.equal((await world.fields('Accounts'))?.FieldOfAnAgent, undefined);
  });
}
