/**
 * Checks that each Hebrew page follows its English page: the same headings by level, and which version it was translated from. Words in italics, in
 * both, are those that the user sees on the page described.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { withoutFences } from './headings.ts';

const HEBREW = 'docs/he';
const ENGLISH = 'docs';

/** What a Hebrew page says of the English one: its version and date. */
const FOLLOWS = /\b\d+\.\d+\.\d+ .*\b\d{1,2}\.\d{1,2}\.\d{4}\b/;

/** Where the words are that users see, in both languages. */
const WORDS = ['console/src/words/*.ts', 'console/src/grid/words/*.ts', 'src/oauth/pages/texts.ts'];

interface Heading {
  readonly level: number;
  readonly text: string;
  readonly line: number;
}

/**
 * @param baseDir the root of the repository, absolute.
 * @returns one line per finding.
 */
export function translationFindings(baseDir: string): string[] {
  const pages = globSync(`${HEBREW}/**/*.md`, { cwd: baseDir }).map((path) => path.replaceAll('\\', '/'));
  const words = pages.length === 0 ? new Set<string>() : shownWords(baseDir);
  return pages.sort().flatMap((page) => {
    const original = posix.join(ENGLISH, posix.relative(HEBREW, page));
    if (!existsSync(join(baseDir, original))) return [`${page}: there is no ${original} that it could follow`];
    const text = readFileSync(join(baseDir, page), 'utf8');
    const link = posix.relative(posix.dirname(page), original);
    const origin = text.split('\n').find((line) => line.includes(`](${link})`)) ?? '';
    const findings = FOLLOWS.test(origin)
      ? []
      : [`${page}: has no line with a link to ${link}, its version (1.2.3) and its date (29.11.2026)`];
    const english = readFileSync(join(baseDir, original), 'utf8');
    const fault = headingFault(headingsOf(english), headingsOf(text));
    if (fault !== undefined) findings.push(`${page}:${fault.line}: ${fault.text} in ${original}`);
    return [...findings, ...unknownWords(original, english, words), ...unknownWords(page, text, words)];
  });
}

/** One line for each phrase in italics that users do not see like that. */
function unknownWords(page: string, markdown: string, words: ReadonlySet<string>): string[] {
  const text = withoutFences(markdown)
    .filter((line) => !/^ {4}/.test(line))
    .join(' ')
    .replace(/`[^`]*`/g, '');
  const phrases = Array.from(text.matchAll(/(?<![*\w])\*(?!\*)([^*]+)\*(?!\*)/g), ([, phrase = '']) => phrase);
  return phrases.filter((phrase) => !words.has(phrase)).map((phrase) => `${page}: no page of the service says "${phrase}"`);
}

/** The texts of the console and of the sign-in page for agents. */
function shownWords(baseDir: string): Set<string> {
  const sources = globSync(WORDS, { cwd: baseDir }).map((path) => readFileSync(join(baseDir, path), 'utf8'));
  return new Set(sources.flatMap((source) => Array.from(source.matchAll(/'([^'\n]+)'/g), ([, text = '']) => text)));
}

/** The first heading in which the pages differ. */
function headingFault(english: readonly Heading[], hebrew: readonly Heading[]): { line: number; text: string } | undefined {
  for (let index = 0; index < Math.max(english.length, hebrew.length); index += 1) {
    const [original, own] = [english[index], hebrew[index]];
    if (original?.level === own?.level) continue;
    const line = own?.line ?? hebrew.at(-1)?.line ?? 1;
    if (original === undefined) return { line, text: `"${own?.text}" follows no heading` };
    const place = own === undefined ? 'the page ends' : `"${own.text}" is`;
    return { line, text: `${place} where "${original.text}" (level ${original.level}) should be, as` };
  }
  return undefined;
}

function headingsOf(markdown: string): Heading[] {
  return withoutFences(markdown).flatMap((line, index) => {
    const [, marks, text = ''] = /^(#{1,6}) +(.*)$/.exec(line) ?? [];
    return marks === undefined ? [] : [{ level: marks.length, text, line: index + 1 }];
  });
}

if (import.meta.main) {
  const findings = translationFindings(process.cwd());
  for (const line of findings) console.error(line);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
