import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { codeHtml, languageOf } from './code.ts';
import { withoutInlineScripts } from './inline.ts';
import { targetOf } from './links.ts';
import { groupsOf, guideOrder, orderIn } from './navigation.ts';
import { linkOf, pagesOf, placeOf, titleOf } from './pages.ts';
import { sectionsOf, stemsOf } from './search.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('pages of the site', () => {
  it('have places and addresses that follow from their documents', () => {
    const places = {
      'docs/guide/rest.md': ['guide/rest.md', '/guide/rest'],
      'docs/reference/README.md': ['reference/index.md', '/reference/'],
      'docs/ARCHITECTURE.md': ['architecture.md', '/architecture'],
      'docs/he/guide/forms.md': ['he/guide/forms.md', '/he/guide/forms'],
      'site/pages/index.md': ['index.md', '/'],
      'CHANGELOG.md': ['changelog.md', '/changelog'],
      'bench/README.md': ['bench/index.md', '/bench/'],
    };
    for (const [source, expected] of Object.entries(places))
      assert.deepEqual([placeOf(source), linkOf(placeOf(source))], expected);
    assert.equal(titleOf('<!-- x -->\n\n# `Config` and \\_User\n'), 'Config and _User');
  });

  it('are all documents of docs/, each with a title', () => {
    const pages = pagesOf(root);
    const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.md'),
    );
    assert.equal(pages.filter(({ source }) => source.startsWith('docs/')).length, documents.length);
    assert.deepEqual(
      pages.filter(({ title, source }) => title === '' && !source.startsWith('site/')),
      [],
    );
  });

  it('link to each other as their documents do', () => {
    const places = new Map(pagesOf(root).map(({ source, place }) => [source, place]));
    const cases: [href: string, source: string, expected: string][] = [
      ['../reference/queries.md#where', 'docs/guide/rest.md', '/reference/queries.md#where'],
      ['../reference/', 'docs/guide/rest.md', '/reference/index.md'],
      ['../../examples/functions/README.md', 'docs/guide/rest.md', '/examples/functions/index.md'],
      ['../../README.md#settings', 'docs/guide/rest.md', '/'],
      ['docs/reference/errors.md#119', 'SECURITY.md', '/reference/errors.md#119'],
      ['../../src/app.ts', 'docs/guide/rest.md', 'source'],
      ['../../README.md', 'bench/load/x.md', '/'],
      ['#where', 'docs/reference/queries.md', 'elsewhere'],
      ['https://example.com/a.md', 'docs/guide/rest.md', 'elsewhere'],
      ['mailto:a@example.com', 'docs/guide/rest.md', 'elsewhere'],
    ];
    for (const [href, source, expected] of cases) {
      const target = targetOf(href, source, places);
      assert.equal(target.kind === 'page' ? target.href : target.kind, expected, href);
    }
  });
});

describe('navigation', () => {
  it('has the named pages in their order, then the others', () => {
    const pages = ['rest', 'zebra', 'start', 'alpaca'].map((name) => ({ source: '', place: `guide/${name}.md`, title: name }));
    assert.deepEqual(
      groupsOf(
        pages,
        'guide/',
        [
          ['Start', ['start', 'missing', 'rest']],
          ['Empty', ['none']],
        ],
        'More',
      ).map(({ text, items }) => [text, ...items.map(({ link }) => link)]),
      [
        ['Start', '/guide/start', '/guide/rest'],
        ['More', '/guide/zebra', '/guide/alpaca'],
      ],
    );
  });

  it('has every guide once', () => {
    const guides = pagesOf(root).filter(({ place }) => place.startsWith('guide/'));
    const listed = groupsOf(guides, 'guide/', guideOrder, 'More').flatMap(({ items }) => items.map(({ link }) => link));
    assert.deepEqual(listed.toSorted(), guides.map(({ place }) => linkOf(place)).toSorted());
  });

  it('takes the order of the reference from its overview', () => {
    const order = orderIn(readFileSync(join(root, 'docs/reference/README.md'), 'utf8'));
    assert.deepEqual(order[0]?.[1].slice(0, 3), ['requests', 'authentication', 'types']);
    assert.ok(order.every(([text, names]) => text !== '' && names.length > 0));
  });
});

describe('code and search', () => {
  it('marks what commands print, and comments', () => {
    assert.equal(
      codeHtml('npm test    # all <tests>\n→ {"a":1}\ncurl http://x/#y\n'),
      '<pre v-pre tabindex="0"><code>npm test<span class="comment">    # all &lt;tests&gt;</span>\n' +
        '<span class="output vp-copy-ignore">→ {&quot;a&quot;:1}</span>\ncurl http://x/#y</code></pre>',
    );
    assert.deepEqual(['{"a":1}', '<form>', 'npm start'].map(languageOf), ['json', 'html', 'sh']);
  });

  it('splits pages at headings', () => {
    const html =
      '<h1 id="a">A &amp; B<a class="header-anchor" href="#a" aria-label="x">#</a></h1><p>one</p>' +
      '<h2 id="c">C<a class="header-anchor" href="#c" aria-label="x">#</a></h2>\n<p>two <code>x</code></p>';
    assert.deepEqual(
      [...sectionsOf(html)],
      [
        { anchor: '', titles: ['A & B'], text: 'one' },
        { anchor: 'c', titles: ['A & B', 'C'], text: 'two x' },
      ],
    );
  });

  it('finds Hebrew words behind prefix letters', () => {
    assert.equal(stemsOf('הטבלה, ובסינון; של word'), 'טבלה בסינון סינון');
  });

  it('moves inline scripts of VitePress into files', () => {
    const directory = mkdtempSync(join(tmpdir(), 'inline-'));
    const html = withoutInlineScripts(
      '<div><script id="check-x">a()</script><script src="/b.js"></script></div>',
      directory,
      '/docs/',
    );
    const [, name = ''] = /<script src="\/docs\/(assets\/check-x\.[0-9a-f]{8}\.js)"><\/script>/.exec(html) ?? [];
    assert.equal(html.replace(name, 'X'), '<div><script src="/docs/X"></script><script src="/b.js"></script></div>');
    assert.equal(readFileSync(join(directory, name), 'utf8'), 'a()');
    rmSync(directory, { recursive: true });
  });
});
