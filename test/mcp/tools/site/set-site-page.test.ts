/** Reference: tools.md#set-site-page. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Json, pointer } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { replaceField } from '../restored.ts';
import { newId, useSite } from './world.ts';

for (const engine of sampledEngines())
  describe(`Set-Site-Page on ${engine}`, () => {
    const site = useSite(engine);
    const set = (pageId: string, version: string, ...operations: object[]): Promise<Json> =>
      site.use('Set-Site-Page', { pageId, version, operations });
    const stored = async (id: string): Promise<Json> => (await site.read('SitePages', id)).Components;
    const tree = () => [
      {
        _id: 'hero',
        type: 'section',
        children: [
          { _id: 'title', type: 'text', text: 'Hi' },
          { _id: 'go', type: 'button' },
        ],
      },
      { _id: 'foot', type: 'text', text: 'bye' },
    ];

    test('a page of too many components, which others may write, is refused before it is gone through', async () => {
      const id = await site.page(Array.from({ length: 30_000 }, (_, n) => n) as never);
      const operations = Array.from({ length: 100 }, () => ({ op: 'add', component: { type: 'text' } }));
      const order = { pageId: id, version: '1', operations };
      await site.refused('Set-Site-Page', order, 107, /has 30000 components; 20000 is the most that is looked at/);
      await site.refused('Get-Site-Page', { pageId: id }, 107, /has 30000 components/);
      const small = await site.page(tree());
      const component = { type: 'section', children: Array.from({ length: 8_000 }, () => ({ type: 'text' })) };
      const large = { pageId: small, version: '1', operations: Array.from({ length: 5 }, () => ({ op: 'add', component })) };
      await site.refused('Set-Site-Page', large, 107, /would have \d+ components; 2000 is the most/);
      assert.deepEqual(await stored(small), tree());
    });

    test('components are added, changed, moved and removed, in order, under the next version', async () => {
      const id = await site.page(tree());
      const answer = await set(
        id,
        '1',
        { op: 'add', component: { type: 'image', url: 'https://example.test/a.png', children: [{ type: 'text' }] }, index: 0 },
        { op: 'change', path: 'hero/title', set: { text: 'Hello', size: 3 } },
        { op: 'change', path: 'foot', set: { text: null } },
        { op: 'move', path: 'go', parent: '', index: 1 },
        { op: 'add', parent: 'foot', component: { _id: 'new', type: 'text' } },
        { op: 'remove', path: 'hero' },
      );
      const [image, ...others] = await stored(id);
      assert.match(image._id, /^[A-Za-z0-9]{10}$/);
      assert.match(image.children[0]._id, /^[A-Za-z0-9]{10}$/);
      assert.deepEqual(others, [
        { _id: 'go', type: 'button' },
        { _id: 'foot', type: 'text', children: [{ _id: 'new', type: 'text' }] },
      ]);
      assert.equal(answer.version, '2');
      assert.equal(answer.components, 5);
      assert.deepEqual(answer.changes, [
        { op: 'add', path: image._id },
        { op: 'change', path: 'hero/title', set: { text: ['Hi', 'Hello'], size: [null, 3] } },
        { op: 'change', path: 'foot', set: { text: ['bye', null] } },
        { op: 'move', from: 'hero/go', path: 'go' },
        { op: 'add', path: 'foot/new' },
        { op: 'remove', path: 'hero', components: 2 },
      ]);
      const row = await site.read('SitePages', id);
      assert.deepEqual([row.Version, row.updatedBy], ['2', pointer('_User', 'master')]);
    });

    test('moves among siblings, into another, by index', async () => {
      const id = await site.page([
        { _id: 'a', type: 't' },
        { _id: 'b', type: 't' },
        { type: 't', n: 3 },
      ]);
      await set(id, '1', { op: 'move', path: 'a', index: 1 });
      assert.deepEqual(
        (await stored(id)).map((one: Json) => one._id ?? one.n),
        ['b', 'a', 3],
      );
      await set(id, '2', { op: 'move', path: '2', parent: 'b' });
      assert.deepEqual(await stored(id), [
        { _id: 'b', type: 't', children: [{ type: 't', n: 3 }] },
        { _id: 'a', type: 't' },
      ]);
      await set(id, '3', { op: 'move', path: 'b/0', parent: null, index: 0 });
      assert.deepEqual(
        (await stored(id)).map((one: Json) => one._id ?? one.n),
        [3, 'b', 'a'],
      );
    });

    test('another version than the present one is refused, with that', async () => {
      const id = await site.page(tree(), { Version: '7' });
      const operations = [{ op: 'remove', path: 'foot' }];
      await site.refused(
        'Set-Site-Page',
        { pageId: id, version: '6', operations },
        409,
        /The present version is "7".*Next: Get-Site-Page\./,
      );
      await set(id, '7', ...operations);
      await site.refused('Set-Site-Page', { pageId: id, version: '7', operations }, 409, /present version is "8"/);
      assert.equal((await stored(id)).length, 1);
    });

    test('of parallel edits of one version one is written', async () => {
      const id = await site.page([]);
      const edit = (n: number) =>
        site.tool('Set-Site-Page', {
          pageId: id,
          version: '1',
          operations: [{ op: 'add', component: { _id: `c${n}`, type: 't' } }],
        });
      const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => edit(n)));
      const refused = answers.filter((answer) => answer.isError);
      assert.equal(refused.length, 7);
      for (const answer of refused) {
        assert.equal(answer.json.code, 409);
        assert.match(answer.text, /The record has changed meanwhile\. \(code 409\)\. The present version is "2"/);
      }
      assert.equal((await stored(id)).length, 1);
    });

    test('versions that are missing, of numbers, or of no numbers', async () => {
      const add = { op: 'add', component: { type: 't' } };
      const bare = await site.page([], { Version: null });
      assert.equal((await set(bare, '0', add)).version, '1');
      const named = await site.page([], { Version: 'draft-x' });
      const { version } = await set(named, 'draft-x', add);
      assert.match(version, /^[0-9a-f]{24}$/);
      assert.equal((await site.read('SitePages', named)).Version, version);
    });

    test('a dry run reports the result, checks all, and writes nothing', async () => {
      const id = await site.page(tree());
      const before = await site.read('SitePages', id);
      const dry = (operation: object) =>
        site.tool('Set-Site-Page', { pageId: id, version: '1', operations: [operation], dryRun: true });
      const { json } = await dry({ op: 'change', path: 'foot', set: { text: 'x' } });
      assert.deepEqual(
        [json.dryRun, json.version, json.changes],
        [true, undefined, [{ op: 'change', path: 'foot', set: { text: ['bye', 'x'] } }]],
      );
      assert.equal((await dry({ op: 'change', path: 'foot', set: { 'a.b': 1 } })).json.code, 121);
      assert.equal((await dry({ op: 'remove', path: 'nothing' })).json.code, 107);
      assert.deepEqual(await site.read('SitePages', id), before);
    });

    test('operations that cannot be are refused, and none is carried out', async () => {
      const id = await site.page(tree());
      const deep = (levels: number): object => (levels === 0 ? { type: 't' } : { type: 't', children: [deep(levels - 1)] });
      const add = (component: unknown) => ({ op: 'add', component });
      const cases: [unknown, RegExp][] = [
        [{}, /operations\[1\]\.op must be add, change, move or remove/],
        [{ op: 'delete', path: 'foot' }, /op must be/],
        [{ op: '__proto__', path: 'foot' }, /op must be/],
        [{ op: 'remove' }, /path must be a text/],
        [{ op: 'remove', path: 'nothing' }, /the page has no component nothing/],
        [{ op: 'remove', path: 'foot', index: 1 }, /index is unknown/],
        [{ op: 'change', path: 'foot' }, /set must be an object/],
        [{ op: 'change', path: 'foot', set: {} }, /set must be an object with a key/],
        [{ op: 'change', path: 'foot', set: { _id: 'x' } }, /set must not have _id/],
        [{ op: 'change', path: 'foot', set: { children: [] } }, /set must not have children/],
        [{ op: 'change', path: 'foot', set: { type: null } }, /set\.type must be a text/],
        [{ op: 'change', path: 'foot', set: { href: ' java\nscript:alert(1)' } }, /href must not be a script/],
        [{ op: 'move', path: 'foot' }, /needs parent or index/],
        [{ op: 'move', path: 'hero', parent: 'title' }, /cannot be moved into itself/],
        [{ op: 'move', path: 'hero', parent: 'hero' }, /cannot be moved into itself/],
        [{ op: 'move', path: 'foot', index: 9 }, /index must be at most/],
        [{ op: 'move', path: 'foot', index: -1 }, /whole number from 0/],
        [{ op: 'move', path: 'foot', index: 0.5 }, /whole number from 0/],
        [{ op: 'move', path: 'foot', parent: 5 }, /parent must be a text/],
        [add(5), /component must be an object/],
        [add({}), /component\.type must be a text/],
        [add({ type: 't', _id: 'a/b' }), /_id must have 1 to 64/],
        [add({ type: 't', _id: 'title' }), /the page has a component title/],
        [
          add({
            type: 't',
            children: [
              { type: 't', _id: 'n' },
              { type: 't', _id: 'n' },
            ],
          }),
          /has a component n/,
        ],
        [add({ type: 't', children: {} }), /children must be a list/],
        [add({ type: 't', children: ['x'] }), /children\[0\] must be an object/],
        [add({ type: 'a', props: { linkUrl: 'JavaScript:x' } }), /linkUrl must not be a script/],
        [add(deep(25)), /levels deep/],
        [add({ type: 't', text: 'x'.repeat(1_100_000) }), /more than 1000000 bytes/],
        [{ op: 'add', component: { type: 't' }, parent: 'nothing' }, /no component nothing/],
        [{ op: 'add', component: { type: 't' }, index: 9 }, /index must be at most/],
      ];
      const first = { op: 'change', path: 'foot', set: { text: 'changed' } };
      for (const [operation, text] of cases)
        await site.refused('Set-Site-Page', { pageId: id, version: '1', operations: [first, operation] }, 107, text);
      await site.refused('Set-Site-Page', { pageId: id, version: '1', operations: [] }, 107, /operations must not be empty/);
      await site.refused('Set-Site-Page', { pageId: id, operations: [first] }, 107, /version is required/);
      await site.refused('Set-Site-Page', { pageId: newId(), version: '1', operations: [first] }, 101, /Object not found/);
      const forbidden = JSON.parse('{"op":"change","path":"foot","set":{"__proto__":{"a":1}}}');
      await site.refused('Set-Site-Page', { pageId: id, version: '1', operations: [forbidden] }, 105, /__proto__/);
      const row = await site.read('SitePages', id);
      assert.deepEqual([row.Components, row.Version], [tree(), '1']);
    });

    test('where a system has made the table otherwise, that is said', async (t) => {
      await replaceField(t, site, 'SitePages', 'Components', { type: 'String' });
      const id = await site.page('text');
      await site.refused(
        'Get-Site-Page',
        { pageId: id },
        107,
        /SitePages\.Components is of type String in this system; the tool takes Array/,
      );
    });
  });
