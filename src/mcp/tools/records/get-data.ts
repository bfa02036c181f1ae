import { missingTable } from '../../kit/missing-table.ts';
import { oneMore, pageOf } from '../../kit/page.ts';
import { findRows } from '../../kit/records.ts';
import { limit, names, object, recordId, skip, table, text } from '../parameters.ts';
import { defineTool } from '../tool.ts';

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
    const rows = await findRows(call, className, { ...ask, where: sought, skip: from, limit: oneMore(most) });
    return { ...pageOf(rows, { skip: from, limit: most }), ...missingTable(call, className) };
  },
});
