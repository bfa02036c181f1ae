import { absentOf, findRows, type Row, tableNamed } from '../../../crm/queries/records.ts';
import { accessErrors, unless } from '../../../crm/refusals.ts';
import { contains } from '../../../crm/search/text-match.ts';
import { MENUS, PAGES } from '../../../crm/site/versions.ts';
import { titleOf } from '../../../crm/wire/titles.ts';
import { pointer } from '../../../crm/wire/values.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../kernel/json.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { storageOf } from '../../../values/index.ts';
import { flag, siteId, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { MAX_RESULT_BYTES, omitUnrequested, pageOf } from '../../results/page.ts';

const MAX_PAGES = 1_000;
const FRAME_BYTES = 2_000;

/** Reference: tools.md#get-site-pages. */
export const getSitePages = defineTool({
  name: 'Get-Site-Pages',
  group: 'site',
  description: 'Pages of the site: id, name, route, table; menus adds the menu trees with their versions.',
  input: { siteId: siteId().optional(), search: text(200).optional(), menus: flag().default(false) },
  needs: ['mcp:view'],
  effect: 'read',
  about: PAGES,
  async run(call, { siteId: site, search, menus }) {
    const where = { ...ofSite(site), ...(search !== undefined && matching(tableNamed(call, PAGES), search)) };
    const keys = ['Name', 'Title', 'Route', 'table', 'SiteId', 'Version', 'Published'];
    const pages = await read(call, PAGES, where, keys, 'SortOrder,Name');
    const bytes = MAX_RESULT_BYTES - FRAME_BYTES;
    if (!menus) return listed(pages, bytes);
    const missing = absentOf(call, [MENUS]);
    if (missing.length > 0) return { ...listed(pages, bytes), missing };
    const found = await unless(accessErrors, null, () => read(call, MENUS, ofSite(site), menuKeys, 'Name'));
    return { ...listed(pages, bytes / 2), ...(found ? { menus: listed(found, bytes / 2) } : { hidden: [MENUS] }) };
  },
});

const menuKeys = ['Name', 'Location', 'SiteId', 'Items', 'Version', 'Active'];

const ofSite = (site: string | undefined): JsonObject => (site === undefined ? {} : { SiteId: pointer('Sites', site) });

/** Returns a filter for pages whose name, title, route or table contains the words, ignoring case. */
function matching({ fields }: TableSchema, search: string): JsonObject {
  const texts = ['Name', 'Title', 'Route', 'table'].filter((name) => {
    const field = fields.get(name);
    return field !== undefined && storageOf(field) === 'text';
  });
  return { $or: texts.map((name) => contains(name, search)) };
}

async function read(
  call: ToolCall,
  className: string,
  where: JsonObject,
  keys: readonly string[],
  order: string,
): Promise<Row[]> {
  const { fields } = tableNamed(call, className);
  const include = ['SiteId'].filter((name) => fields.get(name)?.type === 'Pointer');
  return omitUnrequested(await findRows(call, className, { where, keys, order, include, limit: MAX_PAGES + 1 }), keys);
}

/** Returns pages or menus; a version never written is `0`. */
function listed(rows: readonly Row[], bytes: number): JsonObject {
  const shown = rows.map((row) => ({
    ...row,
    ...(row.SiteId !== undefined && { SiteId: siteOf(row.SiteId) }),
    Version: String(row.Version ?? 0),
  }));
  const { results, truncated } = pageOf(shown, { limit: MAX_PAGES }, bytes);
  const isCut = truncated === true || rows.length > MAX_PAGES;
  return { results, ...(isCut && { truncated: true, hint: 'There are more: narrow with siteId or search.' }) };
}

/** Returns the site, with its name if the caller may see it. */
function siteOf(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const { objectId = null } = value;
  const title = titleOf(value);
  return { objectId, ...(title !== undefined && { Name: title }) };
}
