/** Reference: tools.md#set-menu. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sampledEngines } from '../../../support/service.ts';
import { home, mainMenu, newId, useSite } from './world.ts';

for (const engine of sampledEngines())
  describe(`Set-Menu on ${engine}`, () => {
    const site = useSite(engine);
    const menu = (): Promise<string> =>
      site.create('SiteMenus', { objectId: newId(), Name: 'M', Version: '1', Items: [{ label: 'Old', url: '/old' }] });

    test('the items are replaced under the next version', async () => {
      const items = [
        { label: 'Home', pageId: home, icon: 'house' },
        {
          label: 'More',
          children: [
            { label: 'Mail', url: 'mailto:a@example.test' },
            { label: 'Call', url: 'tel:+97231234567' },
          ],
        },
        { label: 'Web', url: 'https://example.test/a?b=c#d' },
        { label: 'Path', url: '/contact' },
      ];
      const answer = await site.use('Set-Menu', { menuId: mainMenu, version: '1', items });
      assert.deepEqual([answer.version, answer.items], ['2', 6]);
      assert.ok(answer.added.includes(`Home → ${home}`));
      assert.deepEqual(answer.removed, [`דף הבית → ${home}`]);
      const row = await site.read('SiteMenus', mainMenu);
      assert.deepEqual([row.Items, row.Version], [items, '2']);
      const { menus } = await site.use('Get-Site-Pages', { menus: true });
      assert.equal(menus.results[0].Version, '2');
      await site.refused(
        'Set-Menu',
        { menuId: mainMenu, version: '1', items },
        409,
        /present version is "2".*Get-Site-Pages with menus/,
      );
      assert.equal((await site.use('Set-Menu', { menuId: mainMenu, version: '2', items: [] })).items, 0);
    });

    test('a dry run writes nothing', async () => {
      const id = await menu();
      const answer = await site.use('Set-Menu', {
        menuId: id,
        version: '1',
        items: [{ label: 'New', url: '/new' }],
        dryRun: true,
      });
      assert.deepEqual(answer, { menuId: id, dryRun: true, items: 1, added: ['New → /new'], removed: ['Old → /old'] });
      assert.equal((await site.read('SiteMenus', id)).Version, '1');
    });

    test('items that lead nowhere or to what is no address are refused', async () => {
      const id = await menu();
      const nested = (levels: number): object =>
        levels === 0 ? { label: 'x', url: '/' } : { label: 'x', children: [nested(levels - 1)] };
      const gone = newId();
      const cases: [unknown[], RegExp][] = [
        [[{}], /items\[0\]\.label must be a text/],
        [[{ label: '  ', url: '/' }], /label must be a text/],
        [[{ label: 'x' }], /needs pageId, url or children/],
        [[{ label: 'x', url: '/', pageId: home }], /both pageId and url/],
        [[{ label: 'x', pageId: gone }], new RegExp(`there is no page ${gone}`)],
        [[{ label: 'x', children: [{ label: 'y', pageId: gone }] }], /there is no page/],
        [[{ label: 'x', pageId: 5 }], /pageId must be a text/],
        [[{ label: 'x', children: {} }], /children must be a list/],
        [[{ label: 'x', children: ['y'] }], /children\[0\] must be an object/],
        [[nested(6)], /deeper than 5 levels/],
        [[{ label: 'x', url: '/', note: 'x'.repeat(60_000) }], /at most 50000 bytes/],
        [[{ label: 'all', children: Array.from({ length: 501 }, () => ({ label: 'x', url: '/' })) }], /at most 500 entries/],
      ];
      for (const url of [
        'javascript:alert(1)',
        ' javascript:x',
        'data:text/html,x',
        '//evil.test',
        '/\\evil.test',
        'ftp://x',
        'example.test',
        'https://a b',
        '',
        5,
      ])
        cases.push([[{ label: 'x', url }], /url is not allowed/]);
      for (const [items, text] of cases) await site.refused('Set-Menu', { menuId: id, version: '1', items }, 107, text);
      await site.refused('Set-Menu', { menuId: newId(), version: '1', items: [] }, 101, /Object not found/);
      await site.refused('Set-Menu', { menuId: id, items: [] }, 107, /version is required/);
      assert.deepEqual((await site.read('SiteMenus', id)).Items, [{ label: 'Old', url: '/old' }]);
    });
  });
