import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { anchorsOf } from './headings.ts';
import { linkFindings } from './links.ts';

const files = {
  'docs/reference/queries.md': '# Queries\n\n## Where\n\n## Time limit\n\n## Where\n',
  'docs/adr/0001-one.md': '# One\n',
  'src/a.ts': 'export {};',
};

const cases: { title: string; path: string; text: string; expected: RegExp[] }[] = [
  {
    title: 'pages and headings that are there',
    path: 'src/b.ts',
    text: '/** Reference: queries.md#time-limit. See queries.md, docs/adr/0001-one.md and adr/0001-one.md#one (queries.md#where-1). */',
    expected: [],
  },
  {
    title: 'a page and a heading that are not, with the nearest',
    path: 'src/b.ts',
    text: 'export const b = 1; // records.md#create\n// queries.md#time-limits',
    expected: [
      /^src\/b\.ts:1: there is no page docs\/reference\/records\.md$/,
      /^src\/b\.ts:2: docs\/reference\/queries\.md has no heading #time-limits; is #time-limit meant\?$/,
    ],
  },
  { title: 'no strings of code', path: 'src/b.ts', text: "export const b = 'gone.md#x';", expected: [] },
  {
    title: 'links of documents, to files, folders, headings and other sites',
    path: 'docs/guide/g.md',
    text: '[a](../reference/queries.md#where) [b](../../src/) [c](#here) [d](https://example.com/x.md#y) `[e](gone.md)`\n\n    [f](gone.md)\n\n# Here',
    expected: [],
  },
  {
    title: 'links that lead nowhere',
    path: 'docs/guide/g.md',
    text: '[a](queries.md)\n[b](../reference/queries.md#gone) [c](#gone)',
    expected: [
      /^docs\/guide\/g\.md:1: there is no file docs\/guide\/queries\.md$/,
      /^docs\/guide\/g\.md:2: docs\/reference\/queries\.md has no heading #gone$/,
      /^docs\/guide\/g\.md:2: docs\/guide\/g\.md has no heading #gone$/,
    ],
  },
];

describe('links', () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'links-'));
  });
  after(() => rm(root, { recursive: true }));

  for (const [index, { title, path, text, expected }] of cases.entries())
    it(title, async () => {
      const directory = join(root, String(index));
      for (const [file, content] of Object.entries({ ...files, [path]: text })) {
        await mkdir(dirname(join(directory, file)), { recursive: true });
        await writeFile(join(directory, file), content);
      }
      const findings = linkFindings(directory);
      assert.equal(findings.length, expected.length, findings.join('\n'));
      for (const [at, pattern] of expected.entries()) assert.match(findings[at] as string, pattern);
    });

  it('anchors are those of GitHub', () => {
    const page = [
      ...[
        '# `Config` and \\_User',
        '## web2case and web2sale',
        '### Get-all-Users',
        '## HTML/XML',
        '## A, B & C.',
        '## A, B & C.',
      ],
      ...[
        '```',
        '# not a heading',
        '```',
        '<a id="QUERY_TIMEOUT_MS"></a>',
        '#no heading',
        '## [A link](x.md)',
        '## כותרת בעברית',
      ],
    ].join('\n');
    assert.deepEqual(
      [...anchorsOf(page)],
      [
        ...['config-and-_user', 'web2case-and-web2sale', 'get-all-users', 'htmlxml', 'a-b--c', 'a-b--c-1'],
        ...['QUERY_TIMEOUT_MS', 'a-link', 'כותרת-בעברית'],
      ],
    );
  });
});
