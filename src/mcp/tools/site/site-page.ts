import { badArguments } from '../../../crm/refusals.ts';
import { applyOperation } from '../../../crm/site/apply.ts';
import { findComponent, sizeOf } from '../../../crm/site/components.ts';
import { readOperation } from '../../../crm/site/operations.ts';
import { readPage, requireFew, requireFit } from '../../../crm/site/page.ts';
import { PAGES, requireVersion, writeVersioned } from '../../../crm/site/versions.ts';
import { cutText, mapTexts } from '../../../crm/wire/short-text.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { flag, objects, siteId, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { outline } from '../../results/outline.ts';
import { countFitting, MAX_RESULT_BYTES } from '../../results/page.ts';

const head = ['Name', 'Title', 'Description', 'Route', 'table', 'SiteId', 'Published'];

/** Room for what surrounds the components. */
const FRAME_BYTES = 6_000;

/** Reference: tools.md#get-site-page. */
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
    if (path === undefined) return { ...frame, ...outline(components, MAX_RESULT_BYTES - FRAME_BYTES) };
    const place = findComponent(components, path);
    if (!place)
      return badArguments(`path: the page has no component ${path.slice(0, 200)}`, { next: 'Get-Site-Page without path' });
    const { components: shown, ...cut } = outline([place.component], MAX_RESULT_BYTES - FRAME_BYTES);
    const [component = null] = Array.isArray(shown) ? shown : [];
    return { ...frame, path: place.path, component, ...cut };
  },
});

/** Shortens the page's own texts. */
const brief = (value: JsonValue): JsonValue => mapTexts(value, (text) => cutText(text, 500));

const MAX_OPERATIONS = 100;
const MAX_CHANGES_BYTES = 40_000;

/** Applies all operations in order, or none. Reference: tools.md#set-site-page. */
export const setSitePage = defineTool({
  name: 'Set-Site-Page',
  group: 'site',
  description:
    'Add, change, move or remove page components: operations [{op, path, parent?, index?, component or set}]; version (of Get-Site-Page) guards against overwriting another edit.',
  input: {
    pageId: siteId(),
    operations: objects(MAX_OPERATIONS),
    version: text(200),
    dryRun: flag().default(false),
  },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  about: PAGES,
  async run(call, { pageId, operations: sent, version, dryRun }): Promise<JsonObject> {
    const operations = sent.map((operation, index) => readOperation(operation, `operations[${index}]`));
    const { page, components } = await readPage(call, pageId);
    requireVersion(page, version);
    const changes = operations.map((operation, index) => {
      const change = applyOperation(components, operation, `operations[${index}]`);
      requireFew(components);
      return change;
    });
    requireFit(components);
    const next = await writeVersioned(call, page, { Components: components }, dryRun);
    const shown = changes.slice(0, countFitting(changes, MAX_CHANGES_BYTES));
    return {
      pageId,
      ...(dryRun ? { dryRun } : { version: next }),
      changes: shown,
      ...(shown.length < changes.length && { truncated: true }),
      components: sizeOf(components).count,
    };
  },
});
