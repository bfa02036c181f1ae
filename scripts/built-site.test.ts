import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { builtSiteFindings } from './built-site.ts';

/** Pages by their place below the base. */
const sound = {
  'index.html':
    '<script src="/docs/a.js"></script><link rel="stylesheet" href="/docs/a.css"><a href="/docs/guide/a.html#one">a</a><a href="https://example.com/x#y">b</a>',
  'guide/a.html':
    '<h2 id="one">1</h2><a href="../">up</a><a href="#one">1</a><a href="./a.html">self</a><img src="data:image/png;base64,AA">',
  'guide/b.html': '<h2 id="אחת">1</h2><a href="#%D7%90%D7%97%D7%AA">1</a><a href="/docs/a.js">file</a>',
  'a.js': '',
  'a.css': 'a{background:url(/docs/x.svg)}',
};

const cases: { title: string; files: Record<string, string>; expected: string[] }[] = [
  { title: 'links within the site, to other sites and to files', files: {}, expected: [] },
  {
    title: 'links without page, without heading, beyond the base',
    files: { 'c.html': '<a href="/docs/gone.html">1</a><a href="guide/a.html#two">2</a><a href="/guide/a.html">3</a>' },
    expected: [
      'c.html: /docs/gone.html leads to no page',
      'c.html: guide/a.html#two leads to no heading',
      'c.html: /guide/a.html leads to no page',
    ],
  },
  {
    title: 'a link of the navigation, once for all its pages',
    files: Object.fromEntries(['1', '2', '3', '4', '5'].map((name) => [`${name}.html`, '<a href="/docs/gone.html">x</a>'])),
    expected: ['1.html, 2.html, 3.html and 2 more: /docs/gone.html leads to no page'],
  },
  {
    title: 'what is loaded from elsewhere, or is not there',
    files: {
      'c.html':
        '<script src="https://cdn.example.com/x.js"></script><link rel="preload" href="//fonts.example.com/f.woff2"><img src="/docs/no.png">',
      'c.css': '@font-face{src:url("https://fonts.example.com/f.woff2")}',
    },
    expected: [
      'c.html: https://cdn.example.com/x.js is loaded, and is not of the site',
      'c.html: //fonts.example.com/f.woff2 is loaded, and is not of the site',
      'c.html: /docs/no.png is loaded, and is not of the site',
      'c.css: https://fonts.example.com/f.woff2 is loaded, and is not of the site',
    ],
  },
  {
    title: 'what a Content-Security-Policy refuses',
    files: { 'c.html': '<script>alert(1)</script>' },
    expected: ['c.html: a script is inline, which a Content-Security-Policy refuses'],
  },
];

describe('a built site', () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'built-site-'));
  });
  after(() => rm(root, { recursive: true }));

  for (const { title, files, expected } of cases)
    it(title, async () => {
      const directory = await mkdtemp(join(root, 'case-'));
      for (const [file, content] of Object.entries({ ...sound, ...files })) {
        await mkdir(dirname(join(directory, file)), { recursive: true });
        await writeFile(join(directory, file), content);
      }
      assert.deepEqual(builtSiteFindings(directory, '/docs/'), expected);
    });
});
