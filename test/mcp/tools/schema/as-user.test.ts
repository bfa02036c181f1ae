/** Tools of schemas and pages called by a signed-in user: the user's roles decide, and writes carry the user's id. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Json, unique, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { userPointer } from '../../../support/users.ts';
import { byKey, byUser, type Tools } from '../callers.ts';
import { useFlag, useRestored } from '../restored.ts';
import { home, mainMenu } from '../site/world.ts';

for (const engine of sampledEngines())
  describe(`schemas and pages as a user on ${engine}`, () => {
    const store = useStore(engine);
    const { use: byKeyUse } = byKey(store);
    let admin: Tools & { id: string };
    let viewer: Tools;
    useRestored(store, '_Dictionary', 'SitePages', 'SiteMenus');
    useFlag(store, 'McpAdvancedTools', true);
    before(async () => {
      admin = await byUser(store, ['Admin']);
      viewer = await byUser(store, [], ['mcp:view', 'mcp:edit-page-and-schema']);
    });
    const use = (name: string, args: object): Promise<Json> => admin.use(name, args);
    const denied = async (name: string, args: object, text: RegExp, who: Tools = admin) => {
      const answer = await who.call(name, args);
      assert.ok(answer.isError, answer.text);
      assert.match(answer.text, text);
    };
    const setPermissions = (className: string, permissions: object) =>
      byKeyUse('Set-Table-Permissions', { className, permissions });
    const labelsOf = async (tblName: string): Promise<Json[]> =>
      (await store.call('GET', '/platform/classes/_Dictionary', { query: { where: { tblName } } })).body.results;

    test('an administrator creates and changes tables; the labels carry the administrator', async () => {
      const className = unique('T');
      await use('Create-Table', { className, label: 'T', fields: [{ name: 'A', type: 'String', label: 'a' }] });
      await use('Add-Fields', { className, fields: [{ name: 'B', type: 'String', label: 'b' }] });
      await use('Set-Field-Labels', { className, labels: { A: 'c' } });
      await use('Set-Table-Timeline', { className, enabled: true });
      const { taken } = await use('Set-Table-Permissions', { className, permissions: { find: ['Admin'] } });
      assert.ok(taken.find.includes('role:Sales'));
      for (const row of await labelsOf(className)) assert.deepEqual(row.createdBy, userPointer(admin));
      await use('Set-Terminology-Dictionary', { terms: { Sales: 'S' } });
      const reported = await use('Get-Terminology-Dictionary', { tables: [className] });
      assert.deepEqual([reported.terms, reported.tables[className], reported.fields[className].A], [{ Sales: 'S' }, 'T', 'c']);
      for (const row of await labelsOf('_Terminology')) assert.deepEqual(row.createdBy, userPointer(admin));
    });

    test('who may not write labels makes no table with them either: nothing half done', async () => {
      await setPermissions('_Dictionary', { create: [], update: [] });
      const className = unique('T');
      const refusal = /^Permission denied for action create on class _Dictionary \(code 119\)/;
      await denied('Create-Table', { className }, refusal);
      assert.equal(await store.fields(className), undefined);
      const table = await store.table({ A: 'String' });
      await denied('Add-Fields', { className: table, fields: [{ name: 'B', type: 'String', label: 'b' }] }, refusal);
      assert.equal((await store.fields(table)).B, undefined);
      await denied('Set-Field-Labels', { className: table, labels: { A: 'a' } }, refusal);
      await denied('Set-Terminology-Dictionary', { terms: { Sales: 'T' } }, /action update on class _Dictionary/);
      await setPermissions('_Dictionary', { create: ['Admin'], update: ['Admin'], find: [] });
      await denied('Get-Terminology-Dictionary', {}, /^Permission denied for action find on class _Dictionary/);
      await setPermissions('_Dictionary', { find: ['Admin'] });
    });

    test('tables that a user may do nothing with have no labels for that user', async () => {
      const className = unique('T');
      const { classLevelPermissions } = (await store.call('GET', '/platform/schemas/_Dictionary')).body;
      await use('Create-Table', { className, label: 'secret' });
      await setPermissions('_Dictionary', { find: ['requiresAuthentication'] });
      await setPermissions(className, { find: [], get: [], create: [], update: [] });
      const { tables } = await viewer.use('Get-Terminology-Dictionary');
      assert.equal(tables[className], undefined);
      await denied('Get-Terminology-Dictionary', { tables: [className] }, /^Class \w+ does not exist/, viewer);
      await store.call('PUT', '/platform/schemas/_Dictionary', { body: { classLevelPermissions } });
    });

    test('an administrator changes pages and menus; who lost the right does not, dry runs included', async () => {
      const operations = [{ op: 'add', component: { type: 'text', text: 'Sales' } }];
      const { version } = await use('Set-Site-Page', { pageId: home, version: '1', operations });
      assert.deepEqual((await store.read('SitePages', home)).updatedBy, userPointer(admin));
      const items = [{ label: 'Home', pageId: home }];
      await use('Set-Menu', { menuId: mainMenu, version: '1', items });
      assert.deepEqual((await store.read('SiteMenus', mainMenu)).updatedBy, userPointer(admin));
      await use('Replace-Terms', { pageId: home, replacements: { Sales: 'Deals' } });
      const page = await store.read('SitePages', home);
      await setPermissions('SitePages', { update: ['Sales'] });
      await setPermissions('SiteMenus', { update: ['Sales'] });
      const refusal = /^Permission denied for action update on class Site/;
      for (const dryRun of [true, false]) {
        await denied('Set-Site-Page', { pageId: home, version: String(Number(version) + 1), operations, dryRun }, refusal);
        await denied('Set-Menu', { menuId: mainMenu, version: '2', items: [], dryRun }, refusal);
        await denied('Replace-Terms', { pageId: home, replacements: { Deals: 'X' }, dryRun }, refusal);
      }
      assert.deepEqual(await store.read('SitePages', home), page);
    });

    test('what a user may not see of the site is left out, or refused', async () => {
      assert.equal((await use('Get-Site-Pages', { menus: true })).menus.results.length, 1);
      await setPermissions('SiteMenus', { find: [] });
      const { results, hidden, menus } = await use('Get-Site-Pages', { menus: true });
      assert.deepEqual([results.length, hidden, menus], [1, ['SiteMenus'], undefined]);
      await setPermissions('SitePages', { find: [], get: [] });
      await denied('Get-Site-Pages', {}, /^Permission denied for action find on class SitePages/);
      await denied('Get-Site-Page', { pageId: home }, /^Permission denied for action get on class SitePages/);
    });

    test('the permission alone is not enough', async () => {
      for (const name of ['Create-Table', 'Set-Terminology-Dictionary', 'Set-Site-Page'])
        await denied(name, {}, /^Permission denied for action .* is an advanced tool: it takes the role Admin/, viewer);
    });
  });
