/** Checks that files and folders which documents and comments name are there: a path that went stale sends its reader astray. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const TREE = ['{src,test,bench,scripts,bin,examples,template,docs,.ci}{,/**/*}', '*.{ts,mjs}', '.*.mjs'];
const DOCUMENTS = '{*.md,{docs,bench,examples,test}/**/*.md}';
const COMMENTED = '{src,test,bench,scripts}/**/*.ts';

/** A source file, with folders before it or without; not a pattern (`*.test.ts`). */
const FILE = /(?<![\w./*{}-])(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(?:ts|mjs)\b/g;

/** A folder in backticks, with a slash at its end. */
const FOLDER = /(?<=`)(?:[\w-][\w.-]*\/)+(?=`)/g;

/** Documents about the sources. The guides name folders of an installation, too. */
const ABOUT_SOURCES = /^docs\/(?!guide\/)/;

/** Many folders have one: the bare name means the role. */
const ENTRANCE = 'index.ts';

/**
 * A path that begins with a layer leads from `src` or from a folder around the one that names it; any other matches what ends in it. A bare file
 * name has to be that of a neighbour, of a file in a folder that is named on the same line, or of one source file only.
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
    for (const [index, text] of readFileSync(join(baseDir, path), 'utf8').split('\n').entries())
      for (const fault of faults(isDocument ? text : commentOf(text), isAboutSources ? 'src' : dirname(path), isAboutSources))
        if (fault) findings.push(`${path}:${index + 1}: ${fault}`);
  }
  return findings;
}

/** A folder and those that it is in. */
function around(folder: string): string[] {
  return folder === '.' ? ['.'] : [folder, ...around(dirname(folder))];
}

/** The comment of a line of code: all of it, or what follows the code. */
function commentOf(line: string): string {
  return /^\s*(?:\/\*|\*|\/\/).*|\s\/\/ .*$/.exec(line)?.[0] ?? '';
}

if (import.meta.main) {
  const findings = mentionFindings(process.cwd());
  for (const line of findings) console.error(line);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
