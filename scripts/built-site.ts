/** Checks a built site: every link leads to a page and heading of it, and nothing is loaded from elsewhere. */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Parser } from 'htmlparser2';

/** What loads something into the page, and the attribute that says what. */
const LOADING = new Map([
  ['script', 'src'],
  ['img', 'src'],
  ['iframe', 'src'],
  ['source', 'src'],
  ['link', 'href'],
]);

/** Pages named in one finding. */
const MAX_NAMED = 3;

const IS_ELSEWHERE = /^(?:[a-z][a-z+.-]*:|\/\/)/i;

interface BuiltPage {
  readonly ids: ReadonlySet<string>;
  readonly links: readonly string[];
  readonly loaded: readonly string[];
  readonly hasInlineScript: boolean;
}

/**
 * @param directory the built site.
 * @param base the path under which it is served, with slashes around it.
 * @returns one line per finding.
 */
export function builtSiteFindings(directory: string, base: string): string[] {
  const files = globSync('**/*.html', { cwd: directory }).map((path) => path.replaceAll('\\', '/'));
  const pages = new Map(files.sort().map((file) => [file, read(readFileSync(join(directory, file), 'utf8'))]));
  const others = new Set(globSync('**/*', { cwd: directory }).map((path) => path.replaceAll('\\', '/')));

  /** The file of an address, `undefined` if it is outside of the site. */
  const fileOf = (address: string, from: string) => {
    const path = decodeURI(new URL(address, `http://site${base}${from}`).pathname);
    if (!path.startsWith(base)) return undefined;
    const file = path.slice(base.length);
    return file === '' || file.endsWith('/') ? posix.join(file, 'index.html') : file;
  };
  const faultOf = (link: string, from: string) => {
    if (IS_ELSEWHERE.test(link)) return undefined;
    const file = fileOf(link, from);
    const page = file === undefined ? undefined : (pages.get(file) ?? pages.get(`${file}.html`));
    if (page === undefined) return file !== undefined && others.has(file) ? undefined : `${link} leads to no page`;
    const hash = decodeURIComponent(link.split('#')[1] ?? '');
    return hash === '' || page.ids.has(hash) ? undefined : `${link} leads to no heading`;
  };

  /** The pages of each finding: a link of the navigation stands on all. */
  const found = new Map<string, string[]>();
  const report = (fault: string, file: string) => found.set(fault, [...(found.get(fault) ?? []), file]);
  for (const [file, { links, loaded, hasInlineScript }] of pages) {
    for (const fault of new Set(links.map((link) => faultOf(link, file)))) if (fault) report(fault, file);
    for (const address of new Set(loaded)) {
      const loadedFile = IS_ELSEWHERE.test(address) ? undefined : fileOf(address, file);
      if (loadedFile === undefined || !others.has(loadedFile)) report(`${address} is loaded, and is not of the site`, file);
    }
    if (hasInlineScript) report('a script is inline, which a Content-Security-Policy refuses', file);
  }
  for (const file of globSync('**/*.css', { cwd: directory }))
    for (const [, address] of readFileSync(join(directory, file), 'utf8').matchAll(/url\(["']?((?:https?:)?\/\/[^)"']+)/g))
      report(`${address} is loaded, and is not of the site`, file);
  return [...found].map(([fault, where]) => {
    const more = where.length > MAX_NAMED ? ` and ${where.length - MAX_NAMED} more` : '';
    return `${where.slice(0, MAX_NAMED).join(', ')}${more}: ${fault}`;
  });
}

function read(html: string): BuiltPage {
  const ids = new Set<string>();
  const links: string[] = [];
  const loaded: string[] = [];
  let hasInlineScript = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      const { id, name: anchor, href, src } = attributes;
      for (const place of [id, anchor]) if (place) ids.add(place);
      if (name === 'a' && href) links.push(href);
      const attribute = LOADING.get(name);
      const address = attribute === undefined ? undefined : attributes[attribute];
      if (address && !address.startsWith('data:')) loaded.push(address);
      if (name === 'script' && !src) hasInlineScript = true;
    },
  });
  parser.end(html);
  return { ids, links, loaded, hasInlineScript };
}
