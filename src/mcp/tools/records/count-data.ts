import { missingTable } from '../../kit/missing-table.ts';
import { countRows } from '../../kit/records.ts';
import { object, table } from '../parameters.ts';
import { defineTool } from '../tool.ts';

/** Number of records that match, of those that the caller may find. */
export const countData = defineTool({
  name: 'Count-Data',
  group: 'records',
  description: 'Number of records that match, without reading them.',
  input: { table: table(), where: object().optional() },
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { table: className, where }) {
    return { count: await countRows(call, className, where), ...missingTable(call, className) };
  },
});
