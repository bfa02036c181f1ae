import { object, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { withHints } from '../../kit/reading/hints.ts';
import { countRows } from '../../kit/reading/records.ts';
import { missingTable } from '../../kit/reading/tables.ts';

/** Number of records that match, of those that the caller may find. */
export const countData = defineTool({
  name: 'Count-Data',
  group: 'records',
  description: 'Number of records that match, without reading them.',
  input: { table: table(), where: object().optional() },
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { table: className, where }) {
    const count = await countRows(call, className, where);
    return withHints(call, className, { where }, { count, ...missingTable(call, className) });
  },
});
