import type { JsonValue } from '../../../kernel/json.ts';
import { siteId, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { RESULT_BYTES } from '../../kit/answers/page.ts';
import { badArguments } from '../../kit/answers/refusals.ts';
import { findComponent } from '../../kit/site/components.ts';
import { cutText, outline } from '../../kit/site/outline.ts';
import { readPage } from '../../kit/site/page.ts';
import { PAGES } from '../../kit/site/tables.ts';
import { mapTexts } from '../../kit/values/texts.ts';

const head = ['Name', 'Title', 'Description', 'Route', 'table', 'SiteId', 'Published'];

/** What is around the components. */
const FRAME_BYTES = 6_000;

/** docs/decisions.md "Agent tools": pages. */
export const getSitePage = defineTool({
  name: 'Get-Site-Page',
  group: 'site',
  description: 'Structure and version of one page; path (ids with slashes between) narrows to one component.',
  input: { pageId: siteId(), path: text(2_000).optional() },
  needs: ['mcp:view'],
  effect: 'read',
  about: PAGES,
  async run(call, { pageId, path }) {
    const { page, components } = await readPage(call, pageId, head);
    const { row, version } = page;
    const told = head.flatMap((name): [string, JsonValue][] => (row[name] === undefined ? [] : [[name, brief(row[name])]]));
    const frame = { objectId: row.objectId, ...Object.fromEntries(told), version };
    if (path === undefined) return { ...frame, ...outline(components, RESULT_BYTES - FRAME_BYTES) };
    const place = findComponent(components, path);
    if (!place)
      return badArguments(`path: the page has no component ${path.slice(0, 200)}`, { next: 'Get-Site-Page without path' });
    const { components: shown, ...cut } = outline([place.component], RESULT_BYTES - FRAME_BYTES);
    const [component = null] = Array.isArray(shown) ? shown : [];
    return { ...frame, path: place.path, component, ...cut };
  },
});

/** A page's own texts; they are not what it holds. */
const brief = (value: JsonValue): JsonValue => mapTexts(value, (text) => cutText(text, 500));
