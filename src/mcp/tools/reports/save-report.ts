import { names, object, recordId, table as tableName, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { callerId, userPointer } from '../../kit/people/users.ts';
import { hasField } from '../../kit/reading/tables.ts';
import { checkReport, REPORTS } from '../../kit/reports/report.ts';
import { createRow, updateRow } from '../../kit/writing/records.ts';

/** SPEC "Other system tables": `_DynamicQueries`. */
export const saveReport = defineTool({
  name: 'Save-Report',
  group: 'reports',
  description: 'Create a saved report, or replace one when reportId is sent (parts not sent are emptied).',
  input: {
    reportId: recordId().optional(),
    name: text(1_000),
    table: tableName(),
    keys: names(200).optional(),
    where: object().optional(),
    order: text(1_000).optional(),
    groupBy: names(10).optional(),
  },
  needs: ['mcp:create', 'mcp:update'],
  effect: 'change',
  about: REPORTS,
  listedBy: 'Get-Reports',
  async run(call, { reportId, name, table, keys = [], where, order, groupBy = [] }) {
    await checkReport(call, { table, keys, where, order, groupBy });
    const data = { Name: name, table, keys, where: where ?? null, order: order ?? null, groupBy };
    if (reportId !== undefined) {
      await updateRow(call, REPORTS, reportId, data);
      return { reportId, replaced: true };
    }
    const userId = callerId(call);
    const owner = userId !== undefined && hasField(call, REPORTS, 'OwnerId', 'Pointer') ? { OwnerId: userPointer(userId) } : {};
    const { objectId } = await createRow(call, REPORTS, { ...data, ...owner });
    return { reportId: objectId, created: true };
  },
});
