import { MAX_ITEMS, readMenu, requirePages, storedEntries } from '../../../crm/site/menu.ts';
import { MENUS, readVersioned, requireVersion, writeVersioned } from '../../../crm/site/versions.ts';
import { flag, objects, siteId, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { countFitting } from '../../results/page.ts';

const MAX_ENTRIES_BYTES = 15_000;

/** Reference: tools.md#set-menu. */
export const setMenu = defineTool({
  name: 'Set-Menu',
  group: 'site',
  description: 'Replace the items [{label, pageId or url, children?}] of a menu (read them with Get-Site-Pages).',
  input: { menuId: siteId(), items: objects(MAX_ITEMS, 0), version: text(200), dryRun: flag().default(false) },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  isIdempotent: true,
  about: MENUS,
  async run(call, { menuId, items, version, dryRun }) {
    const { entries, pageIds } = readMenu(items);
    const query = { className: MENUS, objectId: menuId, keys: ['Items'], types: { Items: ['Array'] } as const };
    const menu = await readVersioned(call, query);
    requireVersion(menu, version);
    await requirePages(call, pageIds);
    const next = await writeVersioned(call, menu, { Items: items }, dryRun);
    const before = storedEntries(menu.row.Items);
    return {
      menuId,
      ...(dryRun ? { dryRun } : { version: next }),
      items: entries.length,
      added: without(entries, before),
      removed: without(before, entries),
    };
  },
});

function without(entries: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  const left = entries.filter((entry) => !known.has(entry));
  return left.slice(0, countFitting(left, MAX_ENTRIES_BYTES));
}
