import { limit, table as tableName, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { headOf, oneMore } from '../../kit/answers/page.ts';
import { briefly, briefOf } from '../../kit/reading/brief.ts';
import { findRows } from '../../kit/reading/records.ts';
import { tableNamed } from '../../kit/reading/tables.ts';
import { REPORTS } from '../../kit/reports/report.ts';
import { contains } from '../../kit/search/texts.ts';

const shown = ['Name', 'Description', 'table', 'keys', 'where', 'order', 'groupBy', 'Shared', 'OwnerId'];

/** SPEC "Other system tables": `_DynamicQueries`. */
export const getReports = defineTool({
  name: 'Get-Reports',
  group: 'reports',
  description: 'Saved reports: id, name, table, columns.',
  input: { search: text(200).optional(), table: tableName().optional(), limit: limit(50) },
  needs: ['mcp:view'],
  effect: 'read',
  about: REPORTS,
  async run(call, { search, table, limit: most }) {
    const where = {
      ...(table !== undefined && { table }),
      ...(search !== undefined && { $or: [contains('Name', search), contains('Description', search)] }),
    };
    const rows = await findRows(call, REPORTS, {
      where,
      ...briefly(call, tableNamed(call, REPORTS), shown),
      order: 'Name',
      limit: oneMore(most),
    });
    const reports = rows.map((row) => briefOf(row, shown));
    return headOf(reports, most, 'There are more: use search, table or limit.');
  },
});
