/** The navigation, made from the pages that exist: new pages of a folder appear in it without a change here. */
import { linkOf, type Page } from './pages.ts';

export interface Item {
  text: string;
  link: string;
}

/** A heading with its pages. */
export interface Group {
  text: string;
  collapsed?: boolean;
  items: Item[];
}

/** A group by name, and its pages in their order: places without `.md`. Those that do not exist are left out. */
export type Order = readonly (readonly [text: string, names: readonly string[]])[];

/** The guides. Those that no group names follow under a heading of their own. */
export const guideOrder: Order = [
  ['Start', ['start', 'install', 'rest', 'client', 'schema']],
  ['People and agents', ['console', 'own-agent', 'agents', 'forms', 'triggers', 'files']],
  ['Moving in', ['moving', 'move', 'parse', 'import']],
  ['Operate', ['operate', 'upgrade', 'metrics', 'backup', 'postgresql', 'scale', 'faults', 'security', 'performance']],
];

/** What is behind the service, for those who work on it. */
export const designOrder: Order = [
  ['Design', ['architecture', 'glossary', 'style', 'contributing', 'test/index', 'bench/index']],
  ['Examples', ['examples/functions/index', 'examples/agent/index', 'examples/client/index', 'client/index', 'deploy/index']],
  ['About', ['changelog', 'security']],
];

/**
 * @param pages of one folder or of none.
 * @param folder of the names in the order, such as `guide/`, or `''`.
 * @param rest the heading of the pages that no group names; there is no such group if there are none.
 */
export function groupsOf(pages: readonly Page[], folder: string, order: Order, rest: string): Group[] {
  const byPlace = new Map(pages.map((page) => [page.place, page]));
  const take = (names: readonly string[]) =>
    names.flatMap((name) => {
      const place = `${folder}${name}.md`;
      const page = byPlace.get(place);
      byPlace.delete(place);
      return page === undefined ? [] : [itemOf(page)];
    });
  const groups = order.map(([text, names]) => ({ text, items: take(names) }));
  const others = { text: rest, items: [...byPlace.values()].map(itemOf) };
  return [...groups, others].filter(({ items }) => items.length > 0);
}

/**
 * Reads the order of pages from an overview: each `##` heading is a group, the links of the first column of its tables are pages.
 *
 * @returns names as in the links, without `.md`.
 */
export function orderIn(overview: string): Order {
  return overview
    .split(/^## +/m)
    .slice(1)
    .map((section) => {
      const [text = ''] = section.split('\n');
      const names = [...section.matchAll(/^\| *\[[^\]]*\]\(([\w-]+)\.md\)/gm)].map(([, name = '']) => name);
      return [text.trim(), names] as const;
    })
    .filter(([, names]) => names.length > 0);
}

export function itemOf({ title, place }: Page): Item {
  return { text: title || place, link: linkOf(place) };
}
