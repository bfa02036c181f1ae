/**
 * Checks that files and folders named in documents and comments exist, and pages and headings that they refer to (links.ts). A stale path misleads
 * its reader.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commentLines } from './comments.ts';
import { linkFindings } from './links.ts';

const TREE = [
  'site/src{,/**/*}',
  '{src,test,bench,scripts,bin,examples,template,docs,client,deploy,.ci}{,/**/*}',
  'runtime{,/*.json}',
  '*.{ts,mjs}',
  '.*.mjs',
];
const DOCUMENTS = '{*.md,{docs,bench,examples,test,client}/**/*.md}';
const COMMENTED = '{src,test,bench,scripts,client/src}/**/*.ts';

/** A source file, with or without folders before it, but not a pattern (`*.test.ts`). */
const FILE = /(?<![\w./*{}-])(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(?:ts|mjs)\b/g;

/** A folder in backticks, with a slash at its end. */
const FOLDER = /(?<=`)(?:[\w-][\w.-]*\/)+(?=`)/g;

/** Documents about the sources. Guides and reference also name folders of an installation. */
const ABOUT_SOURCES = /^docs\/(?!guide\/|reference\/)/;

/** Many folders have one. The bare name means the role, not one file. */
const ENTRANCE = 'index.ts';

/**
 * A path that begins with a layer is resolved from `src`, or from a folder above the file that names it. Any other path matches every path that ends
 * in it. A bare file name has to be unambiguous: a file of the same folder, of a folder named on the same line, or the only source file of that name.
 *
 * @param baseDir the directory that holds `src`, absolute.
 * @returns one line per name that matches nothing, or several files.
 */
export function mentionFindings(baseDir: string): string[] {
  const tree = globSync(TREE, { cwd: baseDir }).map((path) => path.replaceAll('\\', '/'));
  const paths = new Set(tree);
  const layers = new Set(tree.flatMap((path) => /^src\/([^/.]+)$/.exec(path)?.[1] ?? []));
  const endingIn = (name: string) => tree.filter((path) => path === name || path.endsWith(`/${name}`));
  const isThere = (name: string, home: string) =>
    layers.has(name.split('/')[0] ?? '')
      ? [...around(home), 'src'].some((folder) => paths.has(join(folder, name)))
      : endingIn(name).length > 0;

  const fileFault = (name: string, home: string, folders: readonly string[]) => {
    if (!isThere(name, home)) return `there is no file ${name}`;
    const isNear = name.includes('/') || folders.some((folder) => endingIn(`${folder}/${name}`).length > 0);
    if (isNear || name === ENTRANCE) return undefined;
    const found = endingIn(name);
    const isClear = found.length === 1 || found.filter((path) => path.startsWith('src/')).length === 1;
    return isClear ? undefined : `${name} may be ${found.join(' or ')}`;
  };

  const faults = (line: string, home: string, namesFolders: boolean) => {
    const files = Array.from(line.matchAll(FILE), ([name]) => name);
    const folders = Array.from(line.matchAll(FOLDER), ([name]) => name.slice(0, -1));
    const near = [home, ...folders, ...files.map((name) => dirname(name)).filter((folder) => folder !== '.')];
    const folderFault = (name: string) => (isThere(name, home) ? undefined : `there is no folder ${name}`);
    return [...files.map((name) => fileFault(name, home, near)), ...(namesFolders ? folders.map(folderFault) : [])];
  };

  const findings: string[] = [];
  for (const path of globSync([DOCUMENTS, COMMENTED], { cwd: baseDir })) {
    const isDocument = path.endsWith('.md');
    const isAboutSources = ABOUT_SOURCES.test(path);
    const text = readFileSync(join(baseDir, path), 'utf8');
    for (const [index, line] of (isDocument ? text.split('\n') : commentLines(text)).entries())
      for (const fault of faults(line, isAboutSources ? 'src' : dirname(path), isAboutSources))
        if (fault) findings.push(`${path}:${index + 1}: ${fault}`);
  }
  return findings;
}

/** A folder and all folders above it. */
function around(folder: string): string[] {
  return folder === '.' ? ['.'] : [folder, ...around(dirname(folder))];
}

if (import.meta.main) {
  const findings = [...mentionFindings(process.cwd()), ...linkFindings(process.cwd())];
  for (const line of findings) console.error(line);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
