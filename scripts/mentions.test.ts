import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { mentionFindings } from './mentions.ts';

/** Two folders with a file of the same name, and one of a name of its own. */
const sources = {
  'src/records/read.ts': 'export {};',
  'src/records/write/commit.ts': 'export {};',
  'src/storage/read.ts': 'export {};',
  'src/http/records/find.ts': 'export {};',
  'src/app.ts': 'export {};',
};

const gone = 'gone.ts';

const cases: { title: string; path: string; text: string; expected: RegExp[] }[] = [
  {
    title: 'paths that are there, from any folder on, and a name that is the only one',
    path: 'docs/a.md',
    text: '`src/records/read.ts`, `records/read.ts`, `write/commit.ts`, `commit.ts`, `app.ts`, `records/write/`, `src/`',
    expected: [],
  },
  {
    title: 'a file and a folder that are not',
    path: 'docs/adr/1.md',
    text: 'One.\n`records/gone.ts` stands in `records/old/`.',
    expected: [
      /^docs\/adr\/1\.md:2: there is no file records\/gone\.ts$/,
      /^docs\/adr\/1\.md:2: there is no folder records\/old$/,
    ],
  },
  {
    title: 'a path from a layer on, which another path ends in',
    path: 'docs/a.md',
    text: '`records/find.ts`, `http/records/find.ts`',
    expected: [/^docs\/a\.md:1: there is no file records\/find\.ts$/],
  },
  {
    title: 'the same, named by a file beside the folder',
    path: 'src/http/server.ts',
    text: '// See records/find.ts.',
    expected: [],
  },
  { title: 'a name of several files', path: 'docs/a.md', text: '`read.ts`', expected: [/:1: read\.ts may be .* or /] },
  { title: 'the same, its folder on the line', path: 'docs/a.md', text: '| `storage/` | `read.ts` |', expected: [] },
  {
    title: 'the same as that of a neighbour in a comment',
    path: 'src/storage/b.ts',
    text: '/** As in read.ts. */\nexport {};',
    expected: [],
  },
  {
    title: 'comments of code, at the end of a line too',
    path: 'src/storage/c.ts',
    text: `/**\n * See ${gone}.\n */\nexport const c = 1; // ${gone}, too\nexport const d = '${gone}';`,
    expected: [/^src\/storage\/c\.ts:2: /, /^src\/storage\/c\.ts:4: /],
  },
  {
    title: 'folders of an installation, and patterns',
    path: 'docs/guide/g.md',
    text: '`data/mail/` has messages; `src/**/*.test.ts` are tests, and so is `*.suite.ts`.',
    expected: [],
  },
];

describe('files that documents and comments name', () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'mentions-'));
  });
  after(() => rm(root, { recursive: true }));

  for (const [index, { title, path, text, expected }] of cases.entries())
    it(title, async () => {
      const directory = join(root, String(index));
      for (const [file, content] of Object.entries({ ...sources, [path]: text })) {
        await mkdir(dirname(join(directory, file)), { recursive: true });
        await writeFile(join(directory, file), content);
      }
      const findings = mentionFindings(directory);
      assert.equal(findings.length, expected.length, findings.join('\n'));
      for (const [at, pattern] of expected.entries()) assert.match(findings[at] as string, pattern);
    });
});
