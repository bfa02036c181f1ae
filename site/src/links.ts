/** Links between documents of the repository → links between pages of the site. */
import { dirname, normalize } from 'node:path';
import type { MarkdownEnv, MarkdownRenderer } from 'vitepress';
import type { Page } from './pages.ts';

/** Where a link of a document leads on the site. */
export type Target = { readonly kind: 'page'; readonly href: string } | { readonly kind: 'elsewhere' | 'source' };

/**
 * @param href as the document writes it.
 * @param source the document, from the root of the repository.
 * @param places the place of each page by its source.
 * @returns a page by its place (`/guide/rest.md#files`); `elsewhere` for another site or the same page; `source` for a file of the repository that is
 *   no page.
 */
export function targetOf(href: string, source: string, places: ReadonlyMap<string, string>): Target {
  if (/^(?:[a-z][a-z+.-]*:|\/\/|#)/i.test(href)) return { kind: 'elsewhere' };
  const [path = '', slug] = href.split('#');
  const document = normalize(`${dirname(source)}/${decodeURIComponent(path)}`).replaceAll('\\', '/');
  if (document === 'README.md') return { kind: 'page', href: '/' };
  const place = places.get(document) ?? places.get(`${document.replace(/\/$/, '')}/README.md`);
  if (place === undefined) return { kind: 'source' };
  return { kind: 'page', href: `/${place}${slug === undefined ? '' : `#${slug}`}` };
}

/** Makes Markdown link to pages. A link to a file that is no page keeps its text only: the site has no copy of the sources. */
export function linkPages(md: MarkdownRenderer, pages: readonly Page[]): void {
  const places = new Map(pages.map(({ source, place }) => [source, place]));
  const sources = new Map(pages.map(({ source, place }) => [place, source]));
  md.core.ruler.push('pages', (state) => {
    const { relativePath } = state.env as MarkdownEnv;
    const source = sources.get(relativePath) ?? relativePath;
    const openSpans: boolean[] = [];
    for (const token of state.tokens.flatMap((block) => block.children ?? [])) {
      if (token.type === 'link_open') {
        const target = targetOf(token.attrGet('href') ?? '', source, places);
        openSpans.push(target.kind === 'source');
        if (target.kind === 'page') token.attrSet('href', target.href);
        if (target.kind === 'source') {
          token.type = 'span_open';
          token.tag = 'span';
          token.attrs = null;
        }
      } else if (token.type === 'link_close' && openSpans.pop()) {
        token.type = 'span_close';
        token.tag = 'span';
      }
    }
  });
}
