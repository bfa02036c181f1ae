/** Checks that pages and headings which comments and documents refer to exist. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { similarTo } from '../src/kernel/similar.ts';
import { commentLines } from './comments.ts';
import { anchorsOf, withoutFences } from './headings.ts';

const DOCUMENTS = '{*.md,{docs,bench,examples,test,console,client}/**/*.md,site/pages/**/*.md}';
const COMMENTED = '{{src,test,bench,scripts}/**/*.{ts,mjs},console/{src,test}/**/*.{ts,tsx},{site,client}/src/**/*.ts}';
const EXCLUDED = ['**/node_modules/**', '{console,client}/dist/**'];

/** The folder of pages that comments name without a path. */
const PAGES = 'docs/reference';

/** A document in a comment, perhaps with a heading: `queries.md#where`. */
const MENTION = /(?<![\w./-])((?:\.{0,2}[\w-]+\/)*[\w-][\w.-]*\.md)(?:#([\p{L}\p{N}_-]+))?/gu;

/** The target of a link or of an image. */
const LINK = /\]\(<?([^)<>\s]+)>?(?: "[^"]*")?\)/g;

/**
 * @param baseDir the root of the repository, absolute.
 * @returns one line per reference that leads nowhere.
 */
export function linkFindings(baseDir: string): string[] {
  const anchorsIn = new Map<string, ReadonlySet<string>>();
  const anchors = (page: string) => {
    const known = anchorsIn.get(page) ?? anchorsOf(readFileSync(join(baseDir, page), 'utf8'));
    anchorsIn.set(page, known);
    return known;
  };
  const isThere = (path: string) => existsSync(join(baseDir, path));
  const anchorFault = (page: string, slug: string | undefined) => {
    if (!slug || !page.endsWith('.md') || anchors(page).has(slug)) return undefined;
    const nearest = similarTo(slug, [...anchors(page)]);
    return `${page} has no heading #${slug}${nearest === undefined ? '' : `; is #${nearest} meant?`}`;
  };

  const faultOfMention = (name: string, slug: string | undefined, home: string) => {
    const places = name.includes('/') ? [name, `docs/${name}`, join(home, name)] : [`${PAGES}/${name}`, name, join(home, name)];
    const page = places.map(normalize).find(isThere);
    return page === undefined ? `there is no page ${places[0]}` : anchorFault(page, slug);
  };
  const faultOfLink = (target: string, document: string) => {
    if (/^[a-z][a-z+.-]*:|^\/\//i.test(target)) return undefined;
    const [path = '', slug] = target.split('#');
    const page = path === '' ? document : normalize(join(dirname(document), decodeURIComponent(path)));
    return isThere(page) ? anchorFault(page, slug) : `there is no file ${page}`;
  };

  const findings: string[] = [];
  const report = (path: string, line: number, fault: string | undefined) => {
    if (fault !== undefined) findings.push(`${path}:${line + 1}: ${fault}`);
  };
  for (const path of globSync(COMMENTED, { cwd: baseDir, exclude: EXCLUDED }).sort())
    for (const [line, comment] of commentLines(readFileSync(join(baseDir, path), 'utf8')).entries())
      for (const [, name = '', slug] of comment.matchAll(MENTION)) report(path, line, faultOfMention(name, slug, dirname(path)));
  for (const path of globSync(DOCUMENTS, { cwd: baseDir, exclude: EXCLUDED }).sort())
    for (const [line, text] of withoutFences(readFileSync(join(baseDir, path), 'utf8')).entries()) {
      if (/^ {4}/.test(text)) continue;
      for (const [, target = ''] of text.replace(/`[^`]*`/g, '').matchAll(LINK)) report(path, line, faultOfLink(target, path));
    }
  return findings;
}
