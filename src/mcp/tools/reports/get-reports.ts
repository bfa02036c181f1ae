import { briefly, briefOf } from '../../kit/brief.ts';
import { oneMore, pageOf } from '../../kit/page.ts';
import { findRows, tableNamed } from '../../kit/records.ts';
import { contains } from '../../kit/search-fields.ts';
import { limit, table as tableName, text } from '../parameters.ts';
import { defineTool } from '../tool.ts';
import { REPORTS } from './report.ts';

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
    const { nextSkip, ...page } = pageOf(
      rows.map((row) => briefOf(row, shown)),
      { limit: most },
    );
    return { ...page, ...(nextSkip !== undefined && { truncated: true, hint: 'There are more: use search, table or limit.' }) };
  },
});
