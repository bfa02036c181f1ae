/** Reference: tools.md#get-site-pages, tools.md#get-site-page. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Json, pointer } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { home, mainMenu, mainSite, newId, useSite } from './world.ts';

for (const engine of sampledEngines())
  describe(`reading pages on ${engine}`, () => {
    const site = useSite(engine);

    test('the pages of a new system, with their menus', async () => {
      const { results, menus } = await site.use('Get-Site-Pages', { menus: true });
      assert.deepEqual(results, [
        {
          objectId: home,
          Name: 'דף הבית',
          SiteId: { objectId: mainSite, Name: 'אתר ראשי' },
          Route: '/',
          Title: 'דף הבית',
          Version: '1',
          Published: true,
        },
      ]);
      const [menu] = menus.results;
      assert.deepEqual([menu.objectId, menu.Version, menu.Items], [mainMenu, '1', [{ label: 'דף הבית', pageId: home }]]);
      assert.equal((await site.use('Get-Site-Pages')).menus, undefined);
    });

    test('pages are found by site and by words, which are no patterns', async () => {
      const other = await site.create('Sites', { objectId: newId(), Name: 'Other' });
      const id = await site.page([], { SiteId: pointer('Sites', other), Name: 'Contact (us)', Route: '/contact' });
      const found = async (args: object) => (await site.use('Get-Site-Pages', args)).results.map((row: Json) => row.objectId);
      assert.deepEqual(await found({ siteId: other }), [id]);
      assert.deepEqual(await found({ search: 'CONTACT (' }), [id]);
      assert.deepEqual(await found({ search: '/contact' }), [id]);
      assert.deepEqual(await found({ search: '.*' }), []);
      assert.deepEqual(await found({ siteId: mainSite, search: 'contact' }), []);
      await site.refused('Get-Site-Pages', { siteId: 'abc' }, 107, /siteId must have 24 hexadecimal/);
      await site.refused('Get-Site-Pages', { search: '' }, 107, /search must not be empty/);
    });

    test('a page with its structure, and one component of it', async () => {
      const button = { _id: 'button1', type: 'button', text: 'Go' };
      const hero = { _id: 'hero', type: 'section', children: [{ type: 'text', text: 'Hi' }, button] };
      const id = await site.page([hero, { _id: '0', type: 'text' }]);
      const page = await site.use('Get-Site-Page', { pageId: id });
      assert.deepEqual(page, { objectId: id, Name: 'Page', version: '1', components: [hero, { _id: '0', type: 'text' }] });
      const at = async (path: string) => {
        const reported = await site.use('Get-Site-Page', { pageId: id, path });
        return [reported.path, reported.component];
      };
      assert.deepEqual(await at('hero/button1'), ['hero/button1', button]);
      assert.deepEqual(await at('button1'), ['hero/button1', button], 'an id is found however deep');
      assert.deepEqual(await at('hero/0'), ['hero/0', { type: 'text', text: 'Hi' }], 'an index');
      assert.deepEqual(await at('0'), ['0', { _id: '0', type: 'text' }], 'an id before an index');
      for (const path of ['nothing', 'hero/9', 'hero/nothing', 'hero/button1/0', 'hero/', '/hero'])
        await site.refused('Get-Site-Page', { pageId: id, path }, 107, /the page has no component/);
      await site.refused(
        'Get-Site-Page',
        { pageId: newId() },
        101,
        /^Object not found\. \(code 101\)\..*Next: Get-Site-Pages\.$/,
      );
      await site.refused('Get-Site-Page', { pageId: 'x' }, 107, /24 hexadecimal/);
    });

    test('what is too large is cut, and reported; by path it is whole', async () => {
      const long = 'א'.repeat(20_000);
      const id = await site.page([
        { _id: 'a', type: 'html', html: long },
        { _id: 'b', type: 'html', html: long },
      ]);
      const page = await site.use('Get-Site-Page', { pageId: id });
      assert.equal(page.truncated, true);
      assert.match(page.components[0].html, /^א{2000}… \(\+18000 characters\)$/);
      const one = await site.use('Get-Site-Page', { pageId: id, path: 'b' });
      assert.deepEqual([one.component.html, one.truncated], [long, undefined]);
      const children = Array.from({ length: 1_500 }, (_, n) => ({ _id: `c${n}`, type: 'text', text: 'word '.repeat(20) }));
      const wide = await site.page([{ _id: 'top', type: 'section', children }]);
      const reported = await site.use('Get-Site-Page', { pageId: wide });
      assert.deepEqual(reported.components, [{ _id: 'top', type: 'section', children: '1500 components' }]);
      const flat = await site.page(
        Array.from({ length: 1_900 }, (_, n) => ({ _id: `component-${n}`, type: 'text', text: 'word '.repeat(40) })),
      );
      const names = await site.use('Get-Site-Page', { pageId: flat });
      assert.equal(names.truncated, true);
      assert.deepEqual(names.components[0], { path: 'component-0', components: 1 });
    });

    test('pages that others made otherwise are shown as they are', async () => {
      const id = await site.page(['text', 5, null, [1], { children: 'none' }], { Version: null });
      const page = await site.use('Get-Site-Page', { pageId: id });
      assert.deepEqual([page.version, page.components], ['0', ['text', 5, null, [1], { children: 'none' }]]);
      const bare = await site.page(null);
      assert.deepEqual((await site.use('Get-Site-Page', { pageId: bare })).components, []);
    });
  });
