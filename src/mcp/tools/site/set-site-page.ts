import type { JsonObject } from '../../../kernel/json.ts';
import { flag, objects, siteId, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { fit } from '../../kit/answers/page.ts';
import { applyOperation } from '../../kit/site/apply.ts';
import { sizeOf } from '../../kit/site/components.ts';
import { readOperation } from '../../kit/site/operations.ts';
import { readPage, requireFew, requireFit } from '../../kit/site/page.ts';
import { PAGES } from '../../kit/site/tables.ts';
import { requireVersion, writeVersioned } from '../../kit/site/versions.ts';

const MOST_OPERATIONS = 100;
const CHANGES_BYTES = 40_000;

/** All operations or none, in their order; docs/decisions.md "Agent tools": pages. */
export const setSitePage = defineTool({
  name: 'Set-Site-Page',
  group: 'site',
  description:
    'Add, change, move or remove page components: operations [{op, path, parent?, index?, component or set}]; version (of Get-Site-Page) guards against overwriting another edit.',
  input: {
    pageId: siteId(),
    operations: objects(MOST_OPERATIONS),
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
    const shown = changes.slice(0, fit(changes, CHANGES_BYTES));
    return {
      pageId,
      ...(dryRun ? { dryRun } : { version: next }),
      changes: shown,
      ...(shown.length < changes.length && { truncated: true }),
      components: sizeOf(components).count,
    };
  },
});
