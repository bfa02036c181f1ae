/**
 * Checks comments and documents for the worst phrases of the project's former dialect, sources for names of documents that a clone does not have and
 * for names of constants that say no unit, and the subjects of the latest commits for their length.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commentLines } from './comments.ts';
import { withoutFences } from './headings.ts';

const SOURCES = [
  '{src,test,bench,scripts,bin,examples}/**/*.{ts,mjs}',
  'console/{src,test}/**/*.{ts,tsx}',
  'client/src/**/*.ts',
  'site/{src,.vitepress}/**/*.ts',
  '*.{ts,mjs}',
  '.*.mjs',
];
const DOCUMENTS = '{*.md,{docs,bench,examples,test,console,client}/**/*.md,site/pages/**/*.md}';
const EXCLUDED = ['**/node_modules/**', '{console,client}/dist/**'];

/** Marks around parts of a document that show what not to write, or whose text comes from the sources. */
const OFF = /<!-- (?:prose: off|generated: begin) -->/;
const ON = /<!-- (?:prose: on|generated: end) -->/;

const MAX_SUBJECT_LENGTH = 72;
const SUBJECTS_CHECKED = 50;

/** A pattern, and what to write instead. */
type Rule = readonly [pattern: RegExp, instead: string];

/** Of comments and documents. */
const phrases: readonly Rule[] = [
  [/\bwhoever\b/i, '"the caller", or "any … that"'],
  [/\b(?:what(?:ever)?|that|which) is none\b/i, '"anything else", or "that is not …"'],
  [/\bwho asks\b/i, '"the caller"'],
  [/\b(?:is|are|was|were) told\b(?! apart| to\b)/i, '"is logged", "is reported" or "is returned"'],
  [/\btell(?:s|ing)? of\b/i, '"reports" or "describes"'],
  [/\bby and by\b/i, '"gradually", or "in the background"'],
  [/\bhad at once\b/i, '"is available immediately"'],
  [/\b(?:make|makes|making|made) anew\b/i, '"recreates"'],
  [/\b(?:come|comes|came|coming) to be\b/i, '"is created", or "becomes"'],
  [/\bwhere there (?:is|are|was|were) none\b/i, '"if there is none"'],
  [/\bsave for\b/i, '"except"'],
  [/\b(?:lest|thereof)\b/i, '"so that … not", or "of it"'],
  [/(?<![\w'"/-])(?:he|his|him|himself)(?![\w'"-])/i, '"it", "the caller", "the user" or "they"'],
];

/** Of every line of sources and documents. The names are put together, so that this file does not name them. */
const names: readonly Rule[] = [
  ...['SPEC', 'CONTRACT'].map((name): Rule => [new RegExp(`\\b${name}\\b`), 'a reference such as queries.md#where']),
  [new RegExp(`\\b${'DESIGN'}\\.md\\b`), 'a reference to docs/ARCHITECTURE.md or an ADR'],
  [new RegExp(`\\.\\./${'shared'}\\b`), 'nothing: a clone has no such folder'],
];

/** Of every line of sources. */
const constants: readonly Rule[] = [
  [/\bconst (?:[A-Z0-9]+_)*(?:MOST|LONGEST|LARGEST)(?:_[A-Z0-9]+)*\b/, 'MAX_… with its unit, such as MAX_BODY_BYTES'],
];

/**
 * @param baseDir the root of the repository, absolute.
 * @returns one line per finding, in the order of files and lines.
 */
export function proseFindings(baseDir: string): string[] {
  const findings: string[] = [];
  const check = (path: string, lines: readonly string[], rules: readonly Rule[]) => {
    for (const [index, line] of lines.entries())
      for (const [pattern, instead] of rules) {
        const [found] = pattern.exec(line) ?? [];
        if (found !== undefined) findings.push(`${path}:${index + 1}: "${found}": write ${instead}`);
      }
  };
  const textOf = (path: string) => readFileSync(join(baseDir, path), 'utf8');
  for (const path of globSync(SOURCES, { cwd: baseDir, exclude: EXCLUDED }).sort()) {
    const text = textOf(path);
    check(path, commentLines(text).map(withoutCode), phrases);
    check(path, text.split('\n'), path.startsWith('scripts/prose') ? [] : [...names, ...constants]);
  }
  for (const path of globSync(DOCUMENTS, { cwd: baseDir, exclude: EXCLUDED }).sort()) {
    const text = textOf(path);
    check(path, proseOf(text), phrases);
    check(path, text.split('\n'), names);
  }
  return findings;
}

/** The lines of a document. Those that are code, or between the marks, are empty. */
function proseOf(text: string): string[] {
  let isOn = true;
  return withoutFences(text).map((line) => {
    if (OFF.test(line)) isOn = false;
    if (ON.test(line)) isOn = true;
    return isOn && !/^ {4}/.test(line) ? withoutCode(line) : '';
  });
}

function withoutCode(line: string): string {
  return line.replace(/`[^`]*`/g, '``');
}

/** @param log lines of a hash, a tab and a subject @returns one line per subject that is too long */
export function subjectFindings(log: string): string[] {
  return log
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([, subject = '']) => [...subject].length > MAX_SUBJECT_LENGTH)
    .map(
      ([hash, subject = '']) =>
        `${hash}: the subject has ${[...subject].length} characters, more than ${MAX_SUBJECT_LENGTH}: ${subject}`,
    );
}

/** The latest commits, or `null` if there is no git or no repository. */
function latestCommits(): string | null {
  try {
    const args = ['log', `-${SUBJECTS_CHECKED}`, '--no-merges', '--format=%h%x09%s'];
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return null;
  }
}

if (import.meta.main) {
  const log = latestCommits();
  if (log === null) console.log('Skipped: subjects of commits, since there is no git repository.');
  const findings = [...proseFindings(process.cwd()), ...(log === null ? [] : subjectFindings(log))];
  for (const line of findings) console.error(line);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
