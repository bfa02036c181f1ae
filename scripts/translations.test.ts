import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { translationFindings } from './translations.ts';

const follows = 'תרגום של [A](../../guide/a.md), גרסה 0.1.0 מיום 29.11.2026.';
const english = '# A\n\n## One\n\n```\n# no heading\n```\n\n### Two\n';

const cases: { title: string; english?: string; hebrew: string; expected: RegExp[] }[] = [
  { title: 'the same headings by level', hebrew: `# א\n\n${follows}\n\n## אחת\n\n### שתיים\n`, expected: [] },
  {
    title: 'a heading that is missing at the end',
    hebrew: `# א\n\n${follows}\n\n## אחת\n`,
    expected: [/^docs\/he\/guide\/a\.md:5: the page ends where "Two" \(level 3\) should be, as in docs\/guide\/a\.md$/],
  },
  {
    title: 'a heading of another level',
    hebrew: `# א\n\n${follows}\n\n## אחת\n\n## שתיים\n`,
    expected: [/^docs\/he\/guide\/a\.md:7: "שתיים" is where "Two" \(level 3\) should be/],
  },
  {
    title: 'a heading too many',
    hebrew: `# א\n\n${follows}\n\n## אחת\n\n### שתיים\n\n## שלוש\n`,
    expected: [/^docs\/he\/guide\/a\.md:9: "שלוש" follows no heading in docs\/guide\/a\.md$/],
  },
  {
    title: 'a page that does not say what it follows',
    hebrew: '# א\n\nתרגום של [A](../../guide/a.md).\n\n## אחת\n\n### שתיים\n',
    expected: [/^docs\/he\/guide\/a\.md: has no line with a link to \.\.\/\.\.\/guide\/a\.md, its version/],
  },
];

describe('translations', () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'translations-'));
  });
  after(() => rm(root, { recursive: true }));

  const findingsOf = async (files: Record<string, string>) => {
    const directory = await mkdtemp(join(root, 'case-'));
    for (const [file, content] of Object.entries(files)) {
      await mkdir(dirname(join(directory, file)), { recursive: true });
      await writeFile(join(directory, file), content);
    }
    return translationFindings(directory);
  };

  for (const { title, hebrew, expected } of cases)
    it(title, async () => {
      const findings = await findingsOf({ 'docs/guide/a.md': english, 'docs/he/guide/a.md': hebrew });
      assert.equal(findings.length, expected.length, findings.join('\n'));
      for (const [at, pattern] of expected.entries()) assert.match(findings[at] as string, pattern);
    });

  it('words in italics that no page shows, in both languages', async () => {
    const files = {
      'console/src/words/en.ts': "export const en = { add: 'Add filter' };",
      'console/src/words/he.ts': "export const he = { add: 'הוספת סינון' };",
      'docs/guide/a.md': '# A\n\n**Filter**: *Add filter*, *Add a filter* `*x*`\n',
      'docs/he/guide/a.md': `# א\n\n${follows} **סינון**: *הוספת סינון*, *הוספה*\n`,
    };
    assert.deepEqual(await findingsOf(files), [
      'docs/guide/a.md: no page of the service says "Add a filter"',
      'docs/he/guide/a.md: no page of the service says "הוספה"',
    ]);
  });

  it('a page without an English one', async () => {
    assert.deepEqual(await findingsOf({ 'docs/he/guide/b.md': '# ב\n' }), [
      'docs/he/guide/b.md: there is no docs/guide/b.md that it could follow',
    ]);
  });
});
