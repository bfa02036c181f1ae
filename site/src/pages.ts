/** Which documents of the repository are pages of the site, and at which addresses. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Documents outside of docs/ that are pages too. Folders that do not exist yet are no error. */
const DOCUMENTS = [
  'docs/**/*.md',
  'site/pages/**/*.md',
  '{CHANGELOG,CONTRIBUTING,SECURITY}.md',
  '{bench,test,client,deploy}/README.md',
  '{examples,deploy}/*/README.md',
];
const EXCLUDED = ['**/node_modules/**'];

/** A page of the site. */
export interface Page {
  /** The document, from the root of the repository: `docs/guide/rest.md`. */
  readonly source: string;
  /** Its place in the site, with its extension. */
  readonly place: string;
  /** The text of its first heading. */
  readonly title: string;
}

/**
 * @param baseDir the root of the repository, absolute.
 * @returns every page, sorted by its source.
 * @throws Error if two documents have one place.
 */
export function pagesOf(baseDir: string): Page[] {
  const sources = globSync(DOCUMENTS, { cwd: baseDir, exclude: EXCLUDED }).map((path) => path.replaceAll('\\', '/'));
  const pages = sources
    .sort()
    .map((source) => ({ source, place: placeOf(source), title: titleOf(readFileSync(join(baseDir, source), 'utf8')) }));
  const bySource = new Map<string, string>();
  for (const { source, place } of pages) {
    const other = bySource.get(place);
    if (other !== undefined) throw new Error(`${source} and ${other} would both be the page ${place}`);
    bySource.set(place, source);
  }
  return pages;
}

/** The place of a document: the README of a folder is its `index`, names in capitals become small ones. */
export function placeOf(source: string): string {
  return source
    .replace(/^(?:docs|site\/pages)\//, '')
    .replace(/(?<=^|\/)README\.md$/, 'index.md')
    .replace(/^[A-Z]+(?=\.md$)/, (name) => name.toLowerCase());
}

/** The text of the first heading, without marks of code and escapes; `''` if there is none. */
export function titleOf(markdown: string): string {
  const [, heading = ''] = /^# +(.+?) *$/m.exec(markdown) ?? [];
  return heading.replace(/[`*]/g, '').replace(/\\(.)/g, '$1');
}

/** The address of a place, without extension: VitePress adds it. An `index` is its folder. */
export function linkOf(place: string): string {
  return `/${place.replace(/\.md$/, '').replace(/(?<=^|\/)index$/, '')}`;
}
