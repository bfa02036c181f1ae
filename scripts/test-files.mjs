import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { root } from './runtime.mjs';

/** Runs the tests of its folder in one process, where they share what they start (test/support/run-together.ts). */
export const TOGETHER = 'together.suite.ts';

/** Where tests are. */
export const FOLDERS = ['test', 'src', 'scripts', 'console/src', 'console/test', 'site/src', 'bench/support'];

/** Unit tests of a folder run in one process: its start takes longer than most of them. */
const UNIT_FOLDERS = ['src', 'scripts', 'console/src', 'console/test', 'site/src', 'bench/support'];

/** Runs in a process of its own: takes seconds, mostly waiting, or changes what is the process's. */
export const ALONE = '.alone.test.ts';

/** Suites that take the longest, first: what starts last ends the run. */
const RUN_ORDER = [
  /^test\/(automation|files|systems|permissions)\//,
  /^test\/transfer\/(backup|move)/,
  /^test\/journeys\//,
  /^test\/(mcp|functions|console|property|records)\//,
  /^test\/(faults|transfer|processes|postgres|edge|migrations)\//,
  /^test\//,
  /\.alone\.test\.ts$/,
];

/** Where the files that run several others lie. */
const GROUPS = join(root, 'node_modules/.cache/tests');

/**
 * The files that hold the tests of a directory; another path or pattern as it is.
 *
 * @param {string} path
 * @returns {string[]}
 */
export function testsAt(path) {
  if (!statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory()) return [path];
  if (existsSync(join(root, path, TOGETHER))) return [join(path, TOGETHER), ...aloneIn(path)];
  const entries = readdirSync(join(root, path), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    if (entry.isDirectory()) return testsAt(join(path, entry.name));
    return entry.name.endsWith('.test.ts') ? [join(path, entry.name)] : [];
  });
}

/** @param {string} path a directory */
function aloneIn(path) {
  const names = readdirSync(join(root, path), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith(ALONE)).map((name) => join(path, name));
}

/**
 * What is to run in one process each, the longest first: a file, or the unit tests of a folder.
 *
 * @param {string[]} files as `testsAt` gives them.
 * @returns {string[][]}
 */
export function groupsOf(files) {
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const file of files) {
    const key = groupOf(file.split(sep).join('/'));
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  /** @param {string[]} group */
  const rank = ([first = '']) => RUN_ORDER.findIndex((pattern) => pattern.test(first)) >>> 0;
  return [...groups.values()].sort((a, b) => rank(a) - rank(b));
}

/** @param {string} file with slashes */
function groupOf(file) {
  const isUnit = UNIT_FOLDERS.some((folder) => file.startsWith(`${folder}/`)) && file.endsWith('.test.ts');
  if (!isUnit || file.endsWith(ALONE)) return file;
  // The engines are as large as other layers are.
  return file
    .split('/')
    .slice(0, file.startsWith('src/storage/') ? 4 : 2)
    .join('/');
}

/**
 * Writes a file for each group, whose name gives its place in the run: the runner takes files by name.
 *
 * @param {string[][]} groups
 * @returns {string[]} their paths.
 */
export function writeGroups(groups) {
  rmSync(GROUPS, { recursive: true, force: true });
  mkdirSync(GROUPS, { recursive: true });
  return groups.map((files, at) => {
    const name = (files.length === 1 ? files[0] : groupOf(files[0] ?? ''))?.replace(/\W+/g, '-');
    const path = join(GROUPS, `${String(at).padStart(3, '0')}-${name}.mjs`);
    const urls = files.map((file) => JSON.stringify(join('../../..', file).split(sep).join('/')));
    const runFiles = "import { runFiles } from '../../../test/support/run-together.ts';\n";
    const text =
      files.length === 1 ? `import ${urls[0]};\n` : `${runFiles}runFiles(import.meta.url, [\n${urls.join(',\n')},\n]);\n`;
    writeFileSync(path, text);
    return path;
  });
}
