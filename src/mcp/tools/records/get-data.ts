import { limit, names, object, recordId, skip, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { withHints } from '../../kit/reading/hints.ts';
import { findPage } from '../../kit/reading/records.ts';
import { missingTable } from '../../kit/reading/tables.ts';

/** SPEC "Agent-tool layer (MCP)": Get-Data. */
export const getData = defineTool({
  name: 'Get-Data',
  group: 'records',
  description: 'Read records of one table with filter, projection, order and paging.',
  input: {
    table: table(),
    keys: names().optional(),
    limit: limit(5),
    order: text().optional(),
    skip: skip(),
    where: object().optional(),
    objectId: recordId().optional(),
  },
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { table: className, objectId, where, limit: most, skip: from, ...ask }) {
    const sought = objectId === undefined ? where : { ...(where && { $and: [where] }), objectId };
    const page = await findPage(call, className, { ...ask, where: sought, skip: from, limit: most });
    return withHints(call, className, { where, ...ask }, { ...page, ...missingTable(call, className) });
  },
});
