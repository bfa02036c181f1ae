import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { proseFindings, subjectFindings } from './prose.ts';

const spec = 'SPEC';

const cases: { title: string; path: string; text: string; expected: RegExp[] }[] = [
  {
    title: 'phrases in comments, with what to write instead',
    path: 'src/a.ts',
    text: '/** Whoever asks is told. */\nexport const a = 1; // where there is none',
    expected: [
      /^src\/a\.ts:1: "Whoever": write "the caller"/,
      /^src\/a\.ts:1: "is told"/,
      /^src\/a\.ts:2: "where there is none"/,
    ],
  },
  {
    title: 'no strings of code, names in code type, parts of words',
    path: 'src/a.ts',
    text: "export const a = 'whoever he is';\n// The field `his` of the header; is told apart; the language 'he', docs/he.\nexport const b = `x // him`;",
    expected: [],
  },
  {
    title: 'blocks of comments, line by line',
    path: 'src/a.ts',
    text: '/**\n * The caller,\n * and him.\n */\nexport const him = 1;',
    expected: [/^src\/a\.ts:3: "him"/],
  },
  {
    title: 'documents, without their code',
    path: 'docs/a.md',
    text: 'It tells of it.\n\n    whoever\n\n```\nwhoever\n```\n`whoever`',
    expected: [/^docs\/a\.md:1: "tells of"/],
  },
  {
    title: 'no examples of what not to write, and no generated parts',
    path: 'docs/a.md',
    text: '<!-- prose: off -->\nwhoever\n<!-- prose: on -->\n<!-- generated: begin -->\nhim\n<!-- generated: end -->\nhim',
    expected: [/^docs\/a\.md:7: /],
  },
  {
    title: 'names of documents on every line',
    path: 'test/a.ts',
    text: `test('${spec} "Errors"', () => {});`,
    expected: [/^test\/a\.ts:1: "SPEC": write a reference/],
  },
  {
    title: 'constants that say no unit',
    path: 'src/a.ts',
    text: 'const MOST_ROWS = 1;\nconst PATH_LONGEST = 1;\nconst ALMOST = 1;\nconst MAX_ROWS = 1;',
    expected: [/^src\/a\.ts:1: "const MOST_ROWS"/, /^src\/a\.ts:2: /],
  },
];

describe('prose', () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'prose-'));
  });
  after(() => rm(root, { recursive: true }));

  for (const [index, { title, path, text, expected }] of cases.entries())
    it(title, async () => {
      const directory = join(root, String(index));
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), text);
      const findings = proseFindings(directory);
      assert.equal(findings.length, expected.length, findings.join('\n'));
      for (const [at, pattern] of expected.entries()) assert.match(findings[at] as string, pattern);
    });

  it('subjects of more than 72 characters', () => {
    const findings = subjectFindings(`aaa\t${'x'.repeat(72)}\nbbb\t${'x'.repeat(73)}\n`);
    assert.deepEqual(
      findings.map((line) => line.slice(0, 34)),
      ['bbb: the subject has 73 characters'],
    );
  });
});
