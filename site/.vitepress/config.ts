/** The site: pages of docs/ and a few other documents of the repository, in English, guides for users in Hebrew too. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postcssRTLCSS from 'postcss-rtlcss';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { slugOf } from '../../scripts/headings.ts';
import { codeHtml, inlineCodeHtml, languageOf } from '../src/code.ts';
import { withoutInlineScripts } from '../src/inline.ts';
import { linkPages } from '../src/links.ts';
import { designOrder, groupsOf, guideOrder, itemOf, type Order, orderIn } from '../src/navigation.ts';
import { pagesOf } from '../src/pages.ts';
import { sectionsOf } from '../src/search.ts';
import { keepStaged, stage } from '../src/stage.ts';
import { searchWordsHe, themeWordsHe } from '../src/words.ts';

/** The working directory is site/ (scripts/site.ts); the configuration itself is bundled to another place before it runs. */
const baseDir = fileURLToPath(new URL('..', `file://${process.cwd()}/`));
const staged = join(baseDir, 'site/.pages');
/** The path under which the site is served, with slashes around it. */
const base = process.env.SITE_BASE ?? '/';

const pages = pagesOf(baseDir);
const places = new Set(pages.map(({ place }) => place));
stage(baseDir, staged, pages);
if (process.argv.includes('dev')) keepStaged(baseDir, staged, pages);

const within = (folder: string) => pages.filter(({ place }) => place.startsWith(folder) && place !== `${folder}index.md`);
const isGuide = (place: string) => /^(?:guide|reference|adr|he)\//.test(place) || place === 'index.md';
const referenceOrder = orderIn(readFileSync(join(baseDir, 'docs/reference/README.md'), 'utf8'));
const overview = (link: string) => ({ text: 'Overview', link });
const decisions = { text: 'Decisions', collapsed: true, items: [overview('/adr/'), ...within('adr/').map(itemOf)] };
const design: DefaultTheme.SidebarItem[] = [
  ...groupsOf(
    pages.filter(({ place }) => !isGuide(place)),
    '',
    designOrder,
    'More',
  ),
  decisions,
];
const guides = groupsOf(within('guide/'), 'guide/', guideOrder, 'More guides');
const guideOrderHe: Order = [['מדריכים', guideOrder.flatMap(([, names]) => names)]];

export default defineConfig({
  base,
  srcDir: '.pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  title: 'Record Data Service',
  description: 'A table-oriented record store for CRM systems, served over REST.',
  // Links end in .html, so that any file server serves the site as it is.
  cleanUrls: false,
  // Data of the site in a file: a Content-Security-Policy need not allow inline scripts.
  metaChunk: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}icon.svg` }]],
  markdown: {
    anchor: { slugify: slugOf },
    // `{…}` and `:name:` are text here.
    attrs: { disable: true },
    highlight: codeHtml,
    config(md) {
      md.disable('emoji', true);
      linkPages(md, pages);
      md.renderer.rules.code_inline = (tokens, index) => inlineCodeHtml(tokens[index]?.content ?? '');
      md.core.ruler.push('indented-code', ({ tokens }) => {
        for (const token of tokens.filter(({ type }) => type === 'code_block')) {
          token.type = 'fence';
          token.tag = 'code';
          token.info = languageOf(token.content);
        }
      });
    },
  },
  vite: {
    publicDir: '../public',
    // Kilobytes: the search index is one file for each language.
    build: { chunkSizeWarningLimit: 4_000 },
    css: {
      postcss: {
        plugins: [postcssRTLCSS({ ltrPrefix: ':where([dir="ltr"])', rtlPrefix: ':where([dir="rtl"])' })],
      },
    },
  },
  transformHtml: (html, _, { siteConfig }) => withoutInlineScripts(html, siteConfig.outDir, base),
  transformPageData({ relativePath, frontmatter }) {
    const other = relativePath.startsWith('he/') ? relativePath.slice('he/'.length) : `he/${relativePath}`;
    if (places.has(other)) frontmatter.otherLanguage = other;
  },
  locales: {
    root: {
      label: 'English',
      lang: 'en',
      themeConfig: {
        nav: [
          { text: 'Start', link: '/guide/start' },
          { text: 'Guides', link: '/guide/rest', activeMatch: '^/guide/(?!start)' },
          { text: 'Reference', link: '/reference/', activeMatch: '^/reference/' },
          { text: 'Design', link: '/architecture', activeMatch: '^/(?:adr/|architecture)' },
          { text: 'Changelog', link: '/changelog' },
        ],
        sidebar: {
          '/guide/': guides,
          '/reference/': [
            { text: 'Reference', items: [overview('/reference/')] },
            ...groupsOf(within('reference/'), 'reference/', referenceOrder, 'More pages'),
          ],
          '/': design,
        },
      },
    },
    he: {
      label: 'עברית',
      lang: 'he',
      dir: 'rtl',
      title: 'Record Data Service',
      description: 'מאגר רשומות למערכות CRM: מדריכים למשתמשים.',
      themeConfig: {
        ...themeWordsHe,
        nav: [{ text: 'מדריכים', link: '/he/guide/console' }],
        sidebar: groupsOf(within('he/guide/'), 'he/guide/', guideOrderHe, 'עוד'),
      },
    },
  },
  themeConfig: {
    outline: { level: [2, 3] },
    // Few pages exist in both languages: the menu of languages leads to the home page, a line above such a page to the other one.
    i18nRouting: false,
    search: {
      provider: 'local',
      options: {
        locales: { he: searchWordsHe },
        miniSearch: { _splitIntoSections: (_, html) => [...sectionsOf(html)] },
      } as DefaultTheme.LocalSearchOptions,
    },
  },
});
