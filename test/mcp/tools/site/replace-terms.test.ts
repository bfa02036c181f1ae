/** Reference: tools.md#replace-terms. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { useSite } from './world.ts';

for (const engine of sampledEngines())
  describe(`Replace-Terms on ${engine}`, () => {
    const site = useSite(engine);
    const replace = (pageId: string, replacements: object, more: object = {}): Promise<Json> =>
      site.use('Replace-Terms', { pageId, replacements, ...more });

    test('whole words of texts are replaced; ids, types, addresses and fields are not', async () => {
      const components = (sales: string) => [
        {
          _id: 'Sales',
          type: 'Sales',
          text: `${sales}, SalesForce and ${sales}_x ${sales === 'Sales' ? 'Sales' : 'Deals'}`.replace(`${sales}_x`, 'Sales_x'),
          field: 'Sales',
          url: '/Sales',
          children: [{ _id: 'b', type: 'button', label: sales, table: 'Sales', options: ['Sales'] }],
        },
        { _id: 'c', type: 'grid', columns: [{ field: 'Sales', buttonText: `All ${sales}!` }] },
      ];
      const id = await site.page(components('Sales'), { Title: 'Our Sales', Route: '/Sales', table: 'Sales' });
      const answer = await replace(id, { Sales: 'Deals' });
      const row = await site.read('SitePages', id);
      assert.deepEqual(row.Components, components('Deals'));
      assert.deepEqual([row.Title, row.Route, row.table, row.Version], ['Our Deals', '/Sales', 'Sales', '2']);
      assert.deepEqual([answer.replaced, answer.terms, answer.version], [5, { Sales: 5 }, '2']);
      assert.deepEqual(answer.places, ['Title (1)', 'Sales.text (2)', 'Sales/b.label (1)', 'c.columns/0.buttonText (1)']);
    });

    test('Hebrew words, terms that change places, and the longest first', async () => {
      const id = await site.page([{ _id: 'a', type: 't', text: 'עסקה ועסקה, עסקה חדשה; לקוח/עסקה' }]);
      const { notReplaced } = await replace(id, { עסקה: 'לקוח', לקוח: 'עסקה', 'עסקה חדשה': 'פרויקט' });
      assert.deepEqual(notReplaced.words, { ועסקה: 1 });
      assert.equal((await site.read('SitePages', id)).Components[0].text, 'לקוח ועסקה, פרויקט; עסקה/לקוח');
    });

    test('Hebrew words behind prefixes stay, and are reported so that they can be sent', async () => {
      const text = 'עסקה, לעסקה ובעסקה; שבעסקה, המכירה, לקוחעסקה, עסקהו, <b ועסקה="1">ועסקה</b>';
      const id = await site.page([{ _id: 'a', type: 't', text, title: 'ועסקה חדשה' }], { Title: 'העסקה' });
      const answer = await replace(id, { עסקה: 'הזמנה', sale: 'x' });
      assert.deepEqual([answer.replaced, answer.places], [1, ['a.text (1)']]);
      const { count, words, places, hint } = answer.notReplaced;
      assert.deepEqual([count, words], [6, { ועסקה: 2, העסקה: 1, לעסקה: 1, ובעסקה: 1, שבעסקה: 1 }]);
      assert.deepEqual(places, ['Title (1)', 'a.text (4)', 'a.title (1)']);
      assert.match(hint, /terms of their own/);
      const next = await replace(id, { עסקה: 'הזמנה', ועסקה: 'והזמנה', לעסקה: 'להזמנה' });
      assert.deepEqual([next.replaced, next.notReplaced.words], [3, { העסקה: 1, ובעסקה: 1, שבעסקה: 1 }]);
      assert.equal((await site.read('SitePages', id)).Components[0].title, 'והזמנה חדשה');
    });

    test('tags, templates, scripts and addresses inside a text stay', async () => {
      const text = (term: string) =>
        `<p title="Task">${term} &amp; {{Task}}</p><script>Task()</script><style>.Task{}</style><!-- Task --> ${term} https://x.test/Task 1 < 2 ${term}`;
      const id = await site.page([{ _id: 'a', type: 't', html: text('Task') }]);
      assert.equal((await replace(id, { Task: 'משימה' })).replaced, 3);
      assert.equal((await site.read('SitePages', id)).Components[0].html, text('משימה'));
    });

    test('characters that patterns or replacements would take for their own', async () => {
      const id = await site.page([{ _id: 'a', type: 't', text: 'a.b (c) a-b axb' }]);
      await replace(id, { 'a.b': '$&', '(c)': '$1\\', 'a-b': 'x' });
      assert.equal((await site.read('SitePages', id)).Components[0].text, '$& $1\\ x axb');
    });

    test('a dry run, and a page that has none of the terms, write nothing', async () => {
      const id = await site.page([{ _id: 'a', type: 't', text: 'Task' }]);
      const before = await site.read('SitePages', id);
      const dry = await replace(id, { Task: 'Job' }, { dryRun: true });
      assert.deepEqual([dry.dryRun, dry.replaced, dry.places], [true, 1, ['a.text (1)']]);
      assert.equal((await replace(id, { Nothing: 'x' })).replaced, 0);
      assert.equal((await replace(id, { Task: 'Task' })).replaced, 0);
      assert.deepEqual(await site.read('SitePages', id), before);
    });

    test('what cannot be is refused', async () => {
      const id = await site.page([{ _id: 'a', type: 't', text: 'Task' }]);
      const cases: [unknown, RegExp][] = [
        [{}, /1 to 200 entries/],
        [{ Task: 5 }, /terms are texts/],
        [{ Task: '' }, /terms are texts/],
        [{ ' ': 'x' }, /terms are texts/],
        [{ Task: 'x'.repeat(201) }, /terms are texts/],
        ['Task', /replacements must be an object/],
      ];
      for (const [replacements, text] of cases) await site.refused('Replace-Terms', { pageId: id, replacements }, 107, text);
      await site.refused('Replace-Terms', { pageId: 'x', replacements: { a: 'b' } }, 107, /24 hexadecimal/);
      const { Version } = await site.read('SitePages', id);
      assert.equal(Version, '1');
    });
  });
